"""Forecaster: how a series goes on, read from its past piece by piece.

Shapes::

    past (B, context) numbers of one channel; forecast (B, horizon)
    pieces: context / patch of the past, then horizon / patch of the future
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.models.config import check_size, whole
from regard.models.design import DESIGNS, DesignConfig, widest
from regard.models.dropout import Dropout
from regard.models.stack import build_stack
from regard.record import note

SHAPES: dict[str, dict[str, int]] = {
    "tiny": {"width": 32, "layers": 2, "heads": 4, "feedforward": 64},
    "small": {"width": 64, "layers": 2, "heads": 4, "feedforward": 128},
    "base": {"width": 128, "layers": 3, "heads": 8, "feedforward": 256},
}
"""Of the Transformer; the recurrent designs get as many parameters."""
LONGEST_PATCH, FEWEST = 16, 8
"""Of the usual patch: steps at most, and pieces of the past at least."""


@dataclass(frozen=True)
class ForecastConfig(DesignConfig):
    """The shape of a forecaster."""

    context: int = 0
    """Steps that are read,"""
    horizon: int = 0
    """and steps that are forecast."""
    patch: int = 0
    """Steps of a piece; it must divide context and horizon. 1 is step by step."""

    what: ClassVar[str] = "a forecaster"
    always: ClassVar[tuple[str, ...]] = ("dropout",)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        sizes = ("context", "horizon", "patch")
        wrong = [text for name in sizes for text in whole(name, getattr(self, name), 1)]
        yield from wrong
        if not wrong and (self.context % self.patch or self.horizon % self.patch):
            yield (
                f"patch must divide context and horizon, {self.context} and {self.horizon}; "
                f"got {self.patch}"
            )

    @property
    def pieces(self) -> tuple[int, int]:
        """Pieces of the past and of the future."""
        return self.context // self.patch, self.horizon // self.patch


def sized_forecaster(
    model: str, size: str, *, context: int, horizon: int, **own: Any
) -> ForecastConfig:
    """The config of a design in a named ``size``; ``own`` replaces single settings.

    The Transformer reads patches; a recurrent design reads step by step and has as many hidden
    units as give it the Transformer's parameters.
    """
    check_size(model, DESIGNS, size)
    patch = usual_patch(context, horizon)
    given: dict[str, Any] = {"context": context, "horizon": horizon, "dropout": 0.1}
    full = given | {"patch": patch, "norm": "pre", **SHAPES[size]}
    if model == "transformer":
        return ForecastConfig(model=model, **(full | own))
    given |= {"patch": 1, "width": SHAPES[size]["width"], "layers": 1}
    if model == "simple-rnn+attention":
        given |= {"form": "xc", "score": "additive"}
    given |= own
    if "hidden" not in given:
        equal = parameters(ForecastConfig(model="transformer", **full))
        given["hidden"] = widest(
            lambda hidden: parameters(ForecastConfig(model=model, hidden=hidden, **given)), equal
        )
    return ForecastConfig(model=model, **given)


def usual_patch(context: int, horizon: int) -> int:
    """The largest patch that divides both, of at most 16 steps, with at least 8 in the past."""
    both, most = math.gcd(context, horizon), max(1, min(LONGEST_PATCH, context // FEWEST))
    return max(n for n in range(1, most + 1) if both % n == 0)


def parameters(config: ForecastConfig) -> int:
    """How many numbers are learned."""
    with torch.device("meta"):
        return sum(p.numel() for p in Forecaster(config).parameters())


class Forecaster(nn.Module):
    """y = s f((x − x_n) / s) + x_n: how a window x_1 … x_n goes on.

        past piece j      v_j = W patch_j + p_j
        future piece k    v_k = p_k, of which nothing is known but where it stands
        forecast of k     W_o h_k + b, from what the design's stack makes of all pieces

    s is the standard deviation of the window, so a forecast follows its series into any unit: of
    a x + b with a > 0 it is a y + b. Every channel of a series is read alone, by the same weights.
    """

    def __init__(self, config: ForecastConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Linear(config.patch, config.width)
        self.places = nn.Parameter(torch.randn(sum(config.pieces), config.width) * 0.02)
        self.dropout = Dropout(config.dropout)
        self.body = build_stack(config, forwards=False)
        self.output = nn.Linear(config.features, config.patch)

    def forward(self, past: Tensor) -> Tensor:
        """The forecast (B, horizon) of windows (B, context)."""
        last = past[:, -1:]
        spread = past.std(-1, correction=0, keepdim=True)
        spread = torch.where(spread > 0, spread, torch.ones_like(spread))
        known, future = self.config.pieces
        patches = ((past - last) / spread).unflatten(-1, (known, self.config.patch))
        vectors = torch.cat(
            [self.embed(patches), past.new_zeros(len(past), future, self.config.width)], 1
        )
        states = self.body(vectors + self.places).features[:, known:]
        said: Tensor = self.output(self.dropout(states)).flatten(1) * spread + last
        note(
            "forecast",
            said,
            axes=("step",),
            formula="s (W_o h_k + b) + x_n",
            meaning="How the series goes on.",
        )
        return said

    def loss(self, past: Tensor, right: Tensor) -> Tensor:
        """The sum over windows of the mean squared errors of their steps."""
        wrong: Tensor = self(past) - right
        return wrong.square().mean(-1).sum()
