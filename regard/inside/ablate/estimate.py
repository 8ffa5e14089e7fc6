"""Estimate: every head's effect by one backward pass (attribution patching; Nanda 2023).

Removing a head changes its output c by −c. To first order the metric m changes by

    −sum over positions and width of c · ∂m/∂c

which one backward pass gives for all heads at once. It is an estimate: the network bends on the
way from c to 0, and what the head's removal does to later attention is followed only to first
order.
"""

from __future__ import annotations

from torch import Tensor

from regard.errors import RegardError
from regard.inside.ablate.measure import Measured
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt
from regard.inside.measures.slopes import HeadSlopes, head_slopes


def estimated(trial: AblationTrial, metric: str) -> tuple[float, dict[HeadAt, float]]:
    """The metric of the unchanged text, and the estimated change of each head's removal."""
    if metric == "cosine":
        raise RegardError(
            "--estimate needs a slope, and the cosine is at its highest where nothing is changed: "
            "leave it out, the effects are then measured"
        )
    measured: list[Measured] = []

    def score() -> Tensor:
        output = trial.run(1)
        measured.append(trial.measured(output.detach(), metric))
        return measured[0].values(output).sum()

    found = head_slopes(trial.network, score)
    return measured[0].base, _changes(trial, found)


def _changes(trial: AblationTrial, slopes: list[HeadSlopes]) -> dict[HeadAt, float]:
    found: dict[HeadAt, float] = {}
    for one in slopes:
        change = -(one.context * one.slope).double().sum((0, 2, 3))
        for part in trial.parts:
            if one.place.answers(None, part):
                number = one.place.number if part in ("encoder", "decoder") else one.place.order
                found |= {HeadAt(part, number, h): float(c) for h, c in enumerate(change)}
    return found
