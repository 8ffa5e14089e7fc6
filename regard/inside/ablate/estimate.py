"""Estimate: every head's effect by one backward pass (attribution patching; Nanda 2023).

Removing a head changes its output c by −c. To first order the metric m changes by

    −sum over positions and width of c · ∂m/∂c

which one backward pass gives for all heads at once. It is an estimate: the network bends on the
way from c to 0, and what the head's removal does to later attention is followed only to first
order.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.errors import RegardError
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt
from regard.inside.intervene.change import Extent
from regard.inside.intervene.intervene import intervene
from regard.inside.observe.places import LayerPlace


def estimated(trial: AblationTrial, metric: str) -> tuple[float, dict[HeadAt, float]]:
    """The metric of the unchanged text, and the estimated change of each head's removal."""
    if metric == "cosine":
        raise RegardError(
            "--estimate needs a slope, and the cosine is at its highest where nothing is changed: "
            "leave it out, the effects are then measured"
        )
    met: list[LayerPlace] = []
    contexts: list[Tensor] = []

    def meets(place: LayerPlace, extent: Extent) -> None:
        met.append(place)

    def tap(context: Tensor) -> Tensor:
        # The first one begins the graph: the weights themselves need no gradient.
        kept = context if context.requires_grad else context.detach().requires_grad_()
        kept.retain_grad()
        contexts.append(kept)
        return kept

    frozen = [p for p in trial.network.parameters() if p.requires_grad]
    for parameter in frozen:
        parameter.requires_grad_(False)
    try:
        with torch.enable_grad(), intervene(trial.network) as hands:
            hands.meets = meets
            for part in trial.parts:
                hands.tap(tap, kind=part)
            output = trial.run(1)
            measured = trial.measured(output.detach(), metric)
            measured.values(output).sum().backward()
    finally:
        for parameter in frozen:
            parameter.requires_grad_(True)
    return measured.base, _changes(trial, met, contexts)


def _changes(
    trial: AblationTrial, met: list[LayerPlace], contexts: list[Tensor]
) -> dict[HeadAt, float]:
    found: dict[HeadAt, float] = {}
    for place, context in zip(met, contexts, strict=True):
        assert context.grad is not None
        change = -(context.detach() * context.grad).double().sum((0, 2, 3))
        for part in trial.parts:
            if place.answers(None, part):
                number = place.number if part in ("encoder", "decoder") else place.order
                found |= {HeadAt(part, number, h): float(c) for h, c in enumerate(change)}
    return found
