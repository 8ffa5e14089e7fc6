"""Parts: who said it: the score of a predicted word as a sum, the strongest parts first."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.pieces.pieces import Pieces
from regard.pieces.whole import ScoreParts
from regard.text import number_of, quoted, visible
from regard.views.terminal.focus import plain_table
from regard.views.terminal.numbers import bar

SHOWN = 12
"""Parts in a table."""
LONGEST_BAR = 14


def print_parts(
    parts: ScoreParts, reading: Pieces, source: Pieces | None, console: Console
) -> None:
    """The sums by kind, the strongest parts, and what came from which word."""
    word = quoted(parts.word.word)
    console.print(Text(f"Who said {word}?   logit = sum of the parts", style="bold cyan"))
    why = parts.held
    if not parts.whole:
        why += " The heads of this model cannot be told apart: attention counts as one part."
    console.print(Padding(Text(why, style="dim"), (0, 0, 0, 3), expand=False))
    kinds = list(dict.fromkeys(part.kind for part in parts.parts))
    sums = [(k, sum(p.score for p in parts.parts if p.kind == k)) for k in kinds]
    _table(console, "all of a kind", sums)
    strongest = sorted(parts.parts, key=lambda part: -abs(part.score))[:SHOWN]
    rows = []
    for part in strongest:
        name = part.name
        if part.sources:
            keys = source if part.kind == "cross-attention" and source is not None else reading
            best = max(range(len(part.sources)), key=lambda j: abs(part.sources[j]))
            name += f", most from {visible(keys.labels[best])!r}"
        rows.append((name, part.score))
    _table(console, f"strongest of {number_of(len(parts.parts), 'part')}", rows)
    for kind, looked_at in (("attention", reading), ("cross-attention", source)):
        found = parts.sources(kind)
        if found and looked_at is not None:
            named = [(visible(looked_at.labels[j]), s) for j, s in enumerate(found) if s]
            named = sorted(named, key=lambda row: -abs(row[1]))[:SHOWN]
            _table(console, f"through {kind}, from the token", named)
    line = (
        f"   The {len(parts.parts)} parts sum to {parts.total:.4f}; the logit is "
        f"{parts.own:.4f}: difference {parts.difference:.1e}."
    )
    console.print(Text(line, style="bold"))
    console.print()


def _table(console: Console, title: str, rows: Sequence[tuple[str, float]]) -> None:
    """Names, numbers, and bars to the left or to the right of nothing."""
    most = max((abs(score) for _, score in rows), default=1.0) or 1.0
    table = plain_table(title, "logit", "", "", right=(1, 2))
    for name, score in rows:
        share = bar(abs(score) / most, LONGEST_BAR)
        left, right = (share, Text("")) if score < 0 else (Text(""), share)
        table.add_row(Text(name), f"{score:+.3f}", left, right)
    console.print(Padding(table, (0, 0, 0, 3), expand=False))
