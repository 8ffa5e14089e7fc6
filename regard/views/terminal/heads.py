"""Heads ranked, on the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.pieces.heads import HeadPlace, Heads
from regard.pieces.measures import column
from regard.text import number_of, visible
from regard.views.terminal.look import KIND_SIGNS
from regard.views.terminal.numbers import bar


def print_heads(
    heads: Heads,
    console: Console,
    *,
    kind: str | None,
    link: tuple[str, str] | None,
    shown: int,
    measure: str = "",
) -> None:
    """By the link or the kind that was asked for, else the best of each kind; ``measure``: what
    the numbers are, if no weights."""
    n = heads.tokens if isinstance(heads.tokens, int) else len(heads.tokens)
    title = Text(visible(heads.model), style="bold")
    read = f"{number_of(n, 'token')}, {number_of(len(heads.scored), 'head')}"
    title.append(f": {read} (layers and heads from 0)", "default")
    console.print(title)
    console.print()
    if link is not None:
        first, second = (visible(word) for word in link)
        console.print(_ranking(heads, f"{column(measure)} of {first} → {second}", None, shown))
    elif kind is not None:
        console.print(_ranking(heads, KIND_SIGNS[kind][1], kind, shown))
    else:
        console.print(_kinds(heads, shown))


def _ranking(heads: Heads, title: str, kind: str | None, shown: int) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("head", style="cyan", justify="right")
    table.add_column(title, justify="right")
    table.add_column("")
    table.add_column("kind")
    for place in heads.ranked(kind)[:shown]:
        seen = heads.scored[place]
        value = heads.weights.get(place) if kind is None else seen.scores[kind]
        number = "-" if value is None else f"{value:.3f}"
        table.add_row(name(place), number, bar(value or 0.0, 20), KIND_SIGNS[seen.kind][1])
    return table


def _kinds(heads: Heads, shown: int) -> Table:
    """For each kind: how many heads are of it, and those with the highest scores."""
    counts = Counter(seen.kind for seen in heads.scored.values())
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("kind", no_wrap=True)
    table.add_column("heads", justify="right")
    table.add_column("highest scores")
    for kind, (_, title) in KIND_SIGNS.items():
        if kind == "mixed":
            table.add_row(title, str(counts[kind]), "")
            continue
        best = [p for p in heads.ranked(kind) if heads.scored[p].scores[kind] is not None]
        line = Text()
        for place in best[: min(shown, 4)]:
            score = heads.scored[place].scores[kind] or 0.0
            line.append(name(place), style="cyan").append(f" {score:.2f}   ", style="default")
        table.add_row(title, str(counts[kind]), line if best else Text("not in this text", "dim"))
    return table


def name(place: HeadPlace) -> str:
    """``L3H1``"""
    return f"L{place[0]}H{place[1]}"
