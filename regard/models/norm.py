"""LayerNorm: each vector brought to mean 0 and variance 1, then stretched and shifted."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.record import note, recording


class LayerNorm(nn.LayerNorm):
    """y = gamma * (x − mean) / sqrt(variance + epsilon) + beta  (Ba, Kiros & Hinton 2016).

    Mean and variance are those of one vector's numbers; the variance divides by their count.
    """

    def forward(self, x: Tensor) -> Tensor:
        """``x`` (..., width) → the same."""
        if not recording():
            return super().forward(x)
        mean, variance = moments(x)
        standard = standardised(x, mean, variance, self.eps)
        y = standard * self.weight + self.bias
        for name, value, formula, meaning in (
            ("mean", mean, "mean of x_i", "The mean of each vector's numbers."),
            ("variance", variance, "mean of (x_i - mean)²", "How far they are from it, squared."),
            (
                "standardised",
                standard,
                "(x_i - mean) / sqrt(variance + epsilon)",
                "Each vector with mean 0 and variance 1.",
            ),
            ("normalised", y, "gamma * x^_i + beta", "Stretched and shifted as was learned."),
        ):
            axes = ("position", "width") if value.dim() == x.dim() else ("position",)
            note(name, value, axes=axes, formula=formula, meaning=meaning)
        return y


def moments(x: Tensor) -> tuple[Tensor, Tensor]:
    """The mean and the variance of each vector of ``x`` (..., width): (...)."""
    variance, mean = torch.var_mean(x, -1, correction=0)
    return mean, variance


def standardised(x: Tensor, mean: Tensor, variance: Tensor, epsilon: float) -> Tensor:
    """(x − mean) / sqrt(variance + epsilon)."""
    return (x - mean.unsqueeze(-1)) / (variance + epsilon).sqrt().unsqueeze(-1)
