"""Vocabulary: from token ids to vectors, and from the decoder's features to token scores.

The output is the largest product of a small translator (features × vocabulary). Its loss is
computed here a slice of rows at a time, gradient included, so that the (tokens, vocabulary) scores
are never held whole and stay in the processor's cache.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from regard.recurrent.scan.product import add_product, product, product_type

ROWS = 512
"""Rows of scores that the loss holds at a time."""


class Loss(NamedTuple):
    """The ``total`` cross-entropy of ``tokens`` predicted tokens; their mean is total / tokens."""

    total: Tensor
    tokens: int


class Vocabulary(nn.Module):
    """The words' vectors of the source, of the target and of the output; one matrix if ``tied``.

    Embedding: E y. Output: W_o t + b, with W_o = E when tied (Press & Wolf 2017; Vaswani et al.
    2017, section 3.4). ``features`` is the width of t, ``width`` that of E y.
    """

    def __init__(self, size: int, width: int, features: int, *, tied: bool) -> None:
        super().__init__()
        self.size, self.tied = size, tied
        if tied:
            self.words = word_vectors(size, width)
        else:
            self.source_words = word_vectors(size, width)
            self.target_words = word_vectors(size, width)
            self.output_words = word_vectors(size, features)
        self.bias = nn.Parameter(torch.zeros(size))

    @property
    def output(self) -> Tensor:
        """The matrix (size, features) of the output."""
        return self.words if self.tied else self.output_words

    def source(self, ids: Tensor) -> Tensor:
        """The vectors (..., width) of source tokens."""
        return F.embedding(ids, self.words if self.tied else self.source_words)

    def target(self, ids: Tensor) -> Tensor:
        """The vectors (..., width) of target tokens."""
        return F.embedding(ids, self.words if self.tied else self.target_words)

    def logits(self, features: Tensor) -> Tensor:
        """Scores (..., size) of every token."""
        return F.linear(features, self.output, self.bias)

    def loss(self, features: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
        """The sum of the cross-entropies of ``features`` (n, width) against ``targets`` (n,).

        With label ``smoothing`` eps (Szegedy et al. 2016), the right token's share is 1 − eps
        plus the eps / size that every token gets.
        """
        return linear_cross_entropy(features, self.output, self.bias, targets, smoothing)


def linear_cross_entropy(
    features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, smoothing: float = 0.0
) -> Tensor:
    """sum_n −sum_v q[n,v] log softmax(W x_n + b)[v], q = (1 − eps) onehot(target) + eps / V.

    ``features`` x (n, width), ``weight`` W (V, width), ``bias`` b (V,), ``targets`` (n,).
    """
    total: Tensor = _LinearCrossEntropy.apply(  # type: ignore[no-untyped-call]
        features, weight, bias, targets, smoothing
    )
    return total


class _LinearCrossEntropy(torch.autograd.Function):
    """Makes the gradient (softmax − q) in place of the scores while they are in the cache."""

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor,
        targets: Tensor,
        smoothing: float,
    ) -> Tensor:
        wanted = any(ctx.needs_input_grad)
        size = weight.shape[0]
        total = torch.zeros((), dtype=torch.float64, device=features.device)
        d_features = torch.empty_like(features) if wanted else None
        d_weight, d_bias = torch.zeros_like(weight), torch.zeros_like(bias)
        kind = product_type(weight)
        rounded = weight.to(kind)
        for start in range(0, features.shape[0], ROWS):
            x, right = features[start : start + ROWS], targets[start : start + ROWS].unsqueeze(-1)
            scores = add_product(bias, x, rounded.t())
            total -= (1 - smoothing) * scores.gather(-1, right).sum()
            if smoothing:
                total -= smoothing / size * scores.sum()
            # log sum exp, leaving exp(score − largest) behind
            largest = scores.amax(-1, keepdim=True)
            shares = scores.sub_(largest).exp_()
            sums = shares.sum(-1, keepdim=True)
            total += (sums.log() + largest).sum()
            if d_features is not None:
                d = shares.div_(sums)
                if smoothing:
                    d.sub_(smoothing / size)
                d.scatter_add_(-1, right, d.new_full(right.shape, smoothing - 1))
                d_features[start : start + ROWS] = product(d, rounded, kind)
                add_product(d_weight, d.t(), x.to(kind), out=d_weight)
                d_bias.add_(d.sum(0))
        if d_features is not None:
            ctx.save_for_backward(d_features, d_weight, d_bias)
        return total.to(bias.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        d_features, d_weight, d_bias = ctx.saved_tensors
        by = grads[0]
        return d_features * by, d_weight * by, d_bias * by, None, None


def word_vectors(size: int, width: int) -> nn.Parameter:
    """Vectors of length about 1: a Transformer scales them by sqrt(width)."""
    return nn.Parameter(torch.randn(size, width) * width**-0.5)
