"""Predictions: the words or labels that a model puts out, with their scores and shares."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.pieces.whole import LABEL, Predicted, Prediction
from regard.text import quoted, visible
from regard.views.terminal.focus import plain_table
from regard.views.terminal.numbers import bar


def print_predictions(predicted: Predicted, console: Console) -> None:
    """A line for each, and what is left for all others."""
    of = "label" if predicted.kind == LABEL else "word"
    table = plain_table(of, "logit", "probability", "", right=(1, 2))
    for said in predicted.predictions:
        cells = f"{said.score:.3f}", f"{said.probability:.4f}"
        table.add_row(Text(quoted(said.word)), *cells, bar(said.probability, 30))
    console.print(Padding(table, (0, 0, 0, 3), expand=False))
    others = predicted.of - len(predicted.predictions)
    if others:
        rest = max(0, 1 - sum(said.probability for said in predicted.predictions))
        console.print(Text(f"   and {others:,} more, together {rest:.4f}", style="dim"))


def print_each(
    read: Sequence[str], each: Sequence[Prediction], shown: int, console: Console
) -> None:
    """The likeliest next word at each step; ``read``: what was read last, by then."""
    table = plain_table("step", "read", "next", "probability", "", right=(0, 3))
    for place, (label, said) in enumerate(zip(read, each, strict=True)):
        word = Text(visible(label), style="bold reverse" if place == shown else "default")
        cells = Text(quoted(said.word)), f"{said.probability:.4f}", bar(said.probability, 24)
        table.add_row(str(place), word, *cells)
    console.print(Padding(table, (0, 0, 0, 3), expand=False))
