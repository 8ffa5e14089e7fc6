"""Heads that align words with time, on the terminal: ranked, and those that the model names."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.pieces.timing import Timings
from regard.text import cut, number_of, visible
from regard.views.terminal.heads import name
from regard.views.terminal.numbers import bar

BARS = 16


def print_timings(found: Timings, console: Console, shown: int) -> None:
    """What was read, the best heads, and where the named ones stand."""
    text = Text(visible(found.model), style="bold")
    padding = f" and {found.padding:,} of padding" if found.padding else ""
    text.append(
        f": {found.seconds:.2f} s in {number_of(found.pieces, 'piece')}{padding}, "
        f"{number_of(len(found.text), 'token')} of text, "
        f"{number_of(len(found.heads), 'head')} of cross-attention (layers and heads from 0)",
        style="default",
    )
    console.print(text)
    console.print(Text(cut(visible(" ".join(found.text)), 4 * console.width), style="dim"))
    console.print()
    console.print(_table(found, shown))
    console.print()
    console.print(
        Text(
            "score = order × sharp. order: later tokens look at later moments (1 always, 0 no "
            f"order); sharp: the weight in the best {found.window:.2f} s of each token; sound: the "
            "weight that is not on padding.",
            style="dim",
        )
    )
    console.print(Text(named_line(found), style="yellow"))


def _table(found: Timings, shown: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("head", style="cyan", justify="right")
    for title in ("score", "order", "sharp", "sound"):
        table.add_column(title, justify="right")
    table.add_column("")
    table.add_column("")
    for place in found.ranked()[:shown]:
        each = found.heads[place]
        figures = [each.score, each.order, each.sharp, each.sound]
        mark = "alignment head" if place in found.named else ""
        cells = [f"{figure:.3f}" for figure in figures]
        table.add_row(name(place), *cells, bar(each.score, BARS), mark)
    return table


def named_line(found: Timings) -> str:
    """Where the heads stand that generation_config.json names."""
    ahead, ranked = found.ahead(), found.ranked()
    if not found.named:
        return "generation_config.json names no alignment_heads of this model."
    ranks = sorted((ranked.index(place) + 1, place) for place in found.named)
    said = ", ".join(f"{name(place)} rank {rank}" for rank, place in ranks)
    line = f"alignment_heads of generation_config.json, of {len(ranked)} heads: {said}."
    if ahead is None:
        return line
    return f"{line} They are ahead of the others in {ahead:.0%} of the pairs (by chance 50%)."
