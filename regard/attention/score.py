"""Score: how well a key fits a query, e[i,j] = score(query_i, key_j).

Shapes, here and in every file of this folder::

    query  (..., q, d)     q queries of width d
    key    (..., k, d)     k keys
    value  (..., k, w)     a value for each key, of any width w
    scores (..., q, k)

Leading axes (batch, heads, …) broadcast. A score is any function ``(query, key) -> scores``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from regard.errors import ShapeError
from regard.record import note, recording

Score = Callable[[Tensor, Tensor], Tensor]


def dot(query: Tensor, key: Tensor) -> Tensor:
    """e[i,j] = q_i · k_j, the score of simple self-attention."""
    scores = query @ key.mT
    note(
        "scores",
        scores,
        axes=("query", "key"),
        formula="e[i,j] = q_i · k_j",
        meaning="How well each key fits each query: their dot product.",
    )
    return scores


def usual_scale(width: int) -> float:
    """1 / sqrt(d_k). Vectors of no width have products of 0, which any scale leaves as they are."""
    return 1 / math.sqrt(width) if width else 1.0


def scaled_dot(query: Tensor, key: Tensor, *, scale: float | None = None) -> Tensor:
    """e[i,j] = q_i · k_j / sqrt(d_k)  (Vaswani et al. 2017, section 3.2.1).

    ``scale`` replaces 1/sqrt(d_k). With d_k = 64 the scale is 1/8.
    """
    factor = usual_scale(key.shape[-1]) if scale is None else scale
    return scale_scores(dot(query, key), factor)


def scale_scores(scores: Tensor, factor: float, by: str | None = None) -> Tensor:
    """e[i,j] · factor, the second half of :func:`scaled_dot`; ``by`` says it in a formula."""
    scaled = scores * factor
    if recording():
        squared = 1 / factor**2 if factor > 0 else math.nan
        whole = abs(squared - round(squared)) < 1e-6 if math.isfinite(squared) else False
        by = by or (f"/ sqrt({round(squared)})" if whole else f"* {factor:.6g}")
        note(
            "scaled",
            scaled,
            axes=("query", "key"),
            formula=f"e[i,j] {by}",
            meaning="Scores of wide vectors grow with their width; scaling keeps softmax soft.",
        )
    return scaled


def bilinear(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    """e[i,j] = q_i W k_j, with W (query width, key width): the widths may differ (Luong 2015)."""
    if weight.shape != (query.shape[-1], key.shape[-1]):
        raise ShapeError(
            f"a bilinear score needs W (query width, key width) = "
            f"({query.shape[-1]}, {key.shape[-1]}), got {tuple(weight.shape)}"
        )
    scores = query @ weight @ key.mT
    note(
        "scores",
        scores,
        axes=("query", "key"),
        formula="e[i,j] = q_i W k_j",
        meaning="How well each key fits each query, through a learned matrix.",
    )
    return scores


def additive(
    query: Tensor,
    key: Tensor,
    v: Tensor,
    w_query: Tensor | None = None,
    w_key: Tensor | None = None,
    *,
    formula: str = "e[i,j] = v · tanh(W q_i + U k_j)",
) -> Tensor:
    """e[i,j] = v · tanh(W q_i + U k_j)  (Bahdanau et al. 2015, appendix A.1.2).

    ``w_query`` W is (hidden, query width), ``w_key`` U is (hidden, key width), ``v`` is (hidden,).
    Either matrix may be None: that side is already projected, as a decoder does that computes
    U k_j once per sentence. The form v · tanh(M [q_i; k_j]) is the same thing with M = [W  U].
    ``formula`` says it in the caller's own letters, where it is noted.
    """
    q = query if w_query is None else query @ _hidden(w_query, v, query, "W", "query").mT
    k = key if w_key is None else key @ _hidden(w_key, v, key, "U", "key").mT
    if not q.shape[-1:] == k.shape[-1:] == v.shape:
        raise ShapeError(
            f"an additive score adds query and key in the width of v, {tuple(v.shape)}, got "
            f"{q.shape[-1]} and {k.shape[-1]}; a side that is not projected yet needs its matrix"
        )
    scores = torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3)) @ v
    note(
        "scores",
        scores,
        axes=("query", "key"),
        formula=formula,
        meaning="How well each key fits each query, by a small network with one hidden layer.",
    )
    return scores


def _hidden(w: Tensor, v: Tensor, x: Tensor, name: str, side: str) -> Tensor:
    if w.shape != (*v.shape, x.shape[-1]):
        raise ShapeError(
            f"an additive score needs {name} (hidden, {side} width) = "
            f"({', '.join(map(str, v.shape))}, {x.shape[-1]}), got {tuple(w.shape)}"
        )
    return w


class Bilinear(nn.Module):
    """:func:`bilinear` with its own weight, ready to be passed as ``score``."""

    def __init__(self, query_width: int, key_width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(query_width, key_width))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return bilinear(query, key, self.weight)


class Additive(nn.Module):
    """:func:`additive` with its own weights, ready to be passed as ``score``."""

    def __init__(self, query_width: int, key_width: int, hidden: int) -> None:
        super().__init__()
        self.w_query = nn.Parameter(torch.empty(hidden, query_width))
        self.w_key = nn.Parameter(torch.empty(hidden, key_width))
        self.v = nn.Parameter(torch.empty(hidden))
        nn.init.xavier_uniform_(self.w_query)
        nn.init.xavier_uniform_(self.w_key)
        nn.init.uniform_(self.v, -1 / math.sqrt(hidden), 1 / math.sqrt(hidden))

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return additive(query, key, self.v, self.w_query, self.w_key)
