"""Slopes: how a number that a model gives would move with what its heads put out.

One backward pass gives ∂y/∂c for the outputs c of all heads, while the fused kernel computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.errors import RegardError
from regard.inside.intervene.change import Extent
from regard.inside.intervene.intervene import intervene
from regard.inside.observe.places import LayerPlace


@dataclass(frozen=True, eq=False)
class HeadSlopes:
    """What the heads of one attention put out, and the slope of the number along it."""

    place: LayerPlace
    context: Tensor
    """(batch, heads, queries, w)"""
    slope: Tensor


def head_slopes(model: nn.Module, score: Callable[[], object]) -> list[HeadSlopes]:
    """Of all attention of ``model``, in its order; ``score`` runs it and gives the number."""
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

    with torch.enable_grad(), _frozen(model), intervene(model) as hands:
        hands.meets = meets
        for kind in hands.kinds:
            hands.tap(tap, kind=kind)
        number = score()
        if not isinstance(number, Tensor) or number.numel() != 1 or not number.requires_grad:
            raise RegardError(
                "a slope is that of one number which the model computes, such as "
                "logits[0, -1].log_softmax(-1).max(), with gradients allowed; got "
                f"{_shape(number)}"
            )
        number.backward()
    return [
        HeadSlopes(place, context.detach(), _slope(context))
        for place, context in zip(met, contexts, strict=True)
    ]


@contextmanager
def _frozen(model: nn.Module) -> Iterator[None]:
    """Inside the block the weights need no gradient."""
    frozen = [p for p in model.parameters() if p.requires_grad]
    for parameter in frozen:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(True)


def _slope(context: Tensor) -> Tensor:
    """None at all is 0: the number does not hear of this attention."""
    return torch.zeros_like(context) if context.grad is None else context.grad


def _shape(number: object) -> str:
    if not isinstance(number, Tensor):
        return type(number).__name__
    without = "" if number.requires_grad else " without a gradient"
    return f"a tensor of shape {tuple(number.shape)}{without}"
