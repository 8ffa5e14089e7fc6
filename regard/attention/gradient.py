"""Gradient: how the weights of softmax move with its scores."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.record import note


def softmax_jacobian(weights: Tensor) -> Tensor:
    """d a_j / d e_k = a_j (δ_jk − a_k): of weights (..., k) the matrices (..., k, k)."""
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    note(
        "jacobian",
        jacobian,
        axes=("query", "weight", "score"),
        formula="da_j / de_k = a_j (1 - a_j) where j = k, -a_j a_k elsewhere",
        meaning="How much each weight grows with each score; every row sums to 0.",
    )
    return jacobian


def softmax_gradient(weights: Tensor, upstream: Tensor) -> Tensor:
    """dL/de_k = a_k (g_k − sum_j g_j a_j), with g = dL/da ``upstream`` (..., k).

    The product of g with the Jacobian, without making it.
    """
    gradient = weights * (upstream - (upstream * weights).sum(-1, keepdim=True))
    note(
        "score_gradient",
        gradient,
        axes=("query", "key"),
        formula="dL/de_k = a_k (g_k - sum_j g_j a_j)",
        meaning="How the loss moves with each score; a row sums to 0.",
    )
    return gradient
