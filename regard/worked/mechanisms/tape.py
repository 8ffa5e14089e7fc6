"""Tape: the steps by which a recurrent network attends to what it has kept, at each word."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from regard.attention import mix, weigh
from regard.worked.stage import Known, Stage, Wrongly


def attended(
    at: str,
    score: Callable[[Known], Tensor],
    needs: tuple[str, ...],
    weights: tuple[str, ...],
    tape: Callable[[Known], Tensor],
    kept: tuple[str, ...],
    slips: tuple[Wrongly, ...],
) -> list[Stage]:
    """The stages of one word: scores, weights, values, weighted values, context.

    ``score`` makes the scores of ``needs`` with ``weights``, and ``tape`` makes the values of
    ``kept``, the steps that are on the tape.
    """

    def own(name: str) -> str:
        return f"{at}/{name}"

    def products(known: Known) -> Tensor:
        return known[own("weights")].unsqueeze(-1) * known[own("values")]

    def mixed(known: Known) -> Tensor:
        return mix(known[own("weights")].unsqueeze(0), known[own("values")])[0]

    soft = (
        Wrongly(
            "softmax is taken of each score alone, 1 / (1 + e^-score)",
            lambda k: k[own("scores")].sigmoid(),
        ),
        Wrongly("the exponentials are not divided by their sum", lambda k: k[own("scores")].exp()),
        Wrongly(
            "scores are divided by their sum without exponentials",
            lambda k: k[own("scores")] / k[own("scores")].sum(),
        ),
    )
    unweighed = (
        Wrongly("values are added up without weights", lambda k: k[own("values")].sum(0)),
        Wrongly("values are averaged without weights", lambda k: k[own("values")].mean(0)),
        Wrongly("the last value is taken for the context", lambda k: k[own("values")][-1]),
    )
    return [
        Stage(own("scores"), needs, score, weights=weights, slips=slips),
        Stage(own("weights"), (own("scores"),), lambda k: weigh(k[own("scores")]), slips=soft),
        Stage(own("values"), kept, tape),
        Stage(own("weighted_values"), (own("weights"), own("values")), products),
        Stage(own("context"), (own("weights"), own("values")), mixed, slips=unweighed),
    ]


def gathered(name: str, rows: Sequence[str], width: int | None = None) -> Stage:
    """The step that is the rows below each other, zeros behind those shorter than ``width``."""
    steps = tuple(rows)

    def below(known: Known) -> Tensor:
        found = [known[step] if step in known else known["x"].new_zeros(0) for step in steps]
        return torch.stack([pad(row, (0, (width or len(row)) - len(row))) for row in found])

    return Stage(name, steps, below, gathers=steps)


def additive_slips(
    hidden: Callable[[Known], Tensor], v: Callable[[Known], Tensor]
) -> tuple[Wrongly, ...]:
    """Mistakes in v · tanh(hidden)."""
    return (
        Wrongly("a sigmoid is taken for tanh", lambda k: hidden(k).sigmoid() @ v(k)),
        Wrongly("tanh is forgotten", lambda k: hidden(k) @ v(k)),
    )
