"""Run an observed model; compare what was seen with eager attention's weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import regard
from regard.inside.observe.observation import Observation
from tests.inside.tiny import BOTH


@torch.no_grad()
def seen(model: Any, given: dict[str, Tensor], **options: Any) -> tuple[Observation, Any]:
    with regard.observe(model, **options) as observation:
        output = model(**given)
    return observation, output


def real(family: str, given: dict[str, Tensor], batch: int, kind: str, n: int) -> Tensor:
    """The positions of an item that are no padding."""
    mask = given.get("attention_mask")
    if mask is None or kind == "decoder":
        return torch.arange(n)
    return mask[batch].nonzero().flatten()


def compare(family: str, observation: Any, eager: Any, given: dict[str, Tensor]) -> float:
    """The largest difference from eager's weights, all layers, heads and batch items."""
    kinds = {"self": "attentions"}
    if family in BOTH:
        kinds = {
            "encoder": "encoder_attentions",
            "decoder": "decoder_attentions",
            "cross": "cross_attentions",
        }
    worst, count = 0.0, 0
    for kind, field in kinds.items():
        for layer, weights in enumerate(eager[field]):
            for batch, head in torch.cartesian_prod(
                torch.arange(weights.shape[0]), torch.arange(weights.shape[1])
            ).tolist():
                rows = real(family, given, batch, kind, weights.shape[2])
                columns = real(family, given, batch, kind, weights.shape[3])
                if kind == "cross":
                    rows = torch.arange(weights.shape[2])
                expected = weights[batch, head][rows][:, columns]
                got = observation.map(layer, head, batch, kind).dense()
                assert got.shape == expected.shape
                worst = max(worst, float((got - expected).abs().max()))
            count += 1
    assert count == len(observation)
    return worst
