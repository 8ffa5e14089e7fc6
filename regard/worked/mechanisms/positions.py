"""Positions that are added to the vectors: sinusoidal, or learned."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.record import note
from regard.recurrent.simple import note_input
from regard.vectors.positions import Learned, sinusoidal
from regard.worked.example import Example
from regard.worked.mechanisms.module import filled
from regard.worked.stage import Known, Stage, Wrongly, weights_of

AXES = ("position", "width")


def run(example: Example) -> None:
    """Make the table and, if there is an x, add it."""
    known = weights_of(example)
    if "x" in known:
        meaning = "What each word means."
        note("embedding", known["x"], axes=AXES, formula="word vector", meaning=meaning)
    table = _table(example, known)
    learned = example.mechanism == "learned"
    formula = "row pos of the table" if learned else "sin, cos(pos / 10000^(2i/d))"
    note("positions", table, axes=AXES, formula=formula, meaning="Where each word stands.")
    if "x" in known:
        note_input(known["x"] + table)


def stages(example: Example) -> list[Stage]:
    """The positions, and their sum with the vectors."""
    slips = () if example.mechanism == "learned" else _slips(example)
    from_one = Wrongly(
        "positions are counted from 1, not from 0", lambda k: _table(example, k, shift=1)
    )
    room = example.mechanism == "sinusoidal" or len(example.given["table"]) > _last(example)
    slips += (from_one,) if room else ()
    made = [Stage("positions", (), lambda k: _table(example, k), slips=slips)]
    if "x" in example.given:
        needs = ("embedding", "positions")
        made.append(Stage("input", needs, lambda k: k["embedding"] + k["positions"]))
    return made


def _last(example: Example) -> int:
    return int(example.option("first")) + len(example.given["x"])


def _sizes(example: Example) -> tuple[int, int]:
    if "x" in example.given:
        n, width = example.given["x"].shape
        return n, width
    return example.option("length"), example.option("width")


def _table(example: Example, known: Known, shift: int = 0) -> Tensor:
    n, width = _sizes(example)
    first = example.option("first") + shift
    if example.mechanism == "sinusoidal":
        return sinusoidal(n, width, first=first, dtype=torch.float64)
    module = filled(Learned(len(known["table"]), width), {"weight": known["table"]})
    made: Tensor = module(n, first)
    return made


def _slips(example: Example) -> tuple[Wrongly, ...]:
    n, width = _sizes(example)
    place = torch.arange(n, dtype=torch.float64).unsqueeze(-1) + example.option("first")
    column = torch.arange(width)

    def waves(exponent: Tensor, sine: Tensor) -> Tensor:
        angle = place / 10000 ** (exponent.double() / width)
        return torch.where(sine, angle.sin(), angle.cos())

    even = column % 2 == 0
    pair = column - column % 2
    half = (width + 1) // 2
    side = torch.where(column < half, 2 * column, 2 * (column - half))
    return (
        Wrongly("sine and cosine are swapped", lambda k: waves(pair, ~even)),
        Wrongly(
            "each column has a frequency of its own, not each pair", lambda k: waves(column, even)
        ),
        Wrongly("i is taken for 2i in the exponent", lambda k: waves(pair // 2, even)),
        Wrongly("all sines come first, then all cosines", lambda k: waves(side, column < half)),
    )
