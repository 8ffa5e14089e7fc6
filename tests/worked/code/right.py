"""Attention that is right, written in as many ways as people write it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import regard

Numbers = np.ndarray[Any, np.dtype[Any]]


def textbook(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value), p_attn


def einsum(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = torch.einsum("...id,...jd->...ij", q * k.shape[-1] ** -0.5, k)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    return torch.einsum("...ij,...jd->...id", scores.softmax(-1), v)


def fused(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None) -> Tensor:
    return F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask)


def logarithms(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True)) @ v


def infinities(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num(0.0) @ v


def one_by_one(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """A query at a time and a key at a time, with a running maximum."""
    most = torch.full((*q.shape[:-1], 1), -math.inf, dtype=q.dtype)
    total, mixed = torch.zeros_like(most), torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype)
    for j in range(k.shape[-2]):
        score = (q * k[..., j : j + 1, :]).sum(-1, keepdim=True) / math.sqrt(k.shape[-1])
        larger = torch.maximum(most, score)
        old, new = torch.exp(most - larger), torch.exp(score - larger)
        total, mixed, most = total * old + new, mixed * old + new * v[..., j : j + 1, :], larger
    return mixed / total


def arrays(Q: Numbers, K: Numbers, V: Numbers, mask: Numbers | None = None) -> Any:
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    raised = np.exp(
        scores - np.max(scores, -1, keepdims=True, where=scores > -np.inf, initial=-1e9)
    )
    total = raised.sum(-1, keepdims=True)
    weights = np.divide(raised, total, out=np.zeros_like(raised), where=total > 0)
    return weights @ V, weights


def integers(q: Numbers, k: Numbers, v: Numbers, mask: Numbers | None = None) -> Numbers:
    scores = q @ np.moveaxis(k, -1, -2) / k.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + (1.0 - mask) * -1e9
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    made: Numbers = (raised / raised.sum(-1, keepdims=True)) @ v
    return made


def loops(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    """For two axes: a query, a key and a number at a time."""
    out = np.zeros((len(q), v.shape[1]))
    for i, query in enumerate(q):
        scores = [
            sum(a * b for a, b in zip(query, key, strict=True)) / len(query) ** 0.5 for key in k
        ]
        raised = [math.exp(score - max(scores)) for score in scores]
        for j in range(len(k)):
            out[i] += raised[j] / sum(raised) * v[j]
    return out


class Batches(nn.Module):
    """With batch products, which take three axes alone."""

    def __init__(self, dropout: float = 0.1) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        return torch.bmm(self.dropout(F.softmax(scores, dim=-1)), values)


class Matrices(nn.Module):
    """Self-attention with bare matrices."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1) @ v


class TurnedMatrices(Matrices):
    """The same with matrices that are (outputs, inputs)."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = x @ self.W_query.T, x @ self.W_key.T, x @ self.W_value.T
        return torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1) @ v


class Annotated(nn.Module):
    """Four maps in a list; query, key and value are the same vectors."""

    def __init__(self, h: int, d_model: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Any = None) -> Tensor:
        n = query.size(0)
        q, k, v = (
            lin(x).view(n, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (query, key, value), strict=False)
        )
        x, _ = textbook(q, k, v, mask)
        joined: Tensor = self.linears[-1](x.transpose(1, 2).reshape(n, -1, self.h * self.d_k))
        return joined


class OneMap(nn.Module):
    """Causal attention with one map for queries, keys and values, as in GPT."""

    def __init__(self, n_embd: int, n_head: int, block_size: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x: Tensor) -> Tensor:
        b, t, c = x.shape
        q, k, v = (
            part.view(b, t, self.n_head, c // self.n_head).transpose(1, 2)
            for part in self.c_attn(x).split(c, dim=2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(self.get_buffer("bias")[:t, :t] == 0, float("-inf"))
        made: Tensor = self.c_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))
        return made


class Wrapped(nn.Module):
    """PyTorch's own module inside."""

    def __init__(self, embed_dim: int, num_heads: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.attention(x, x, x, need_weights=False)[0]
        return made


def by_keys(
    x: Numbers, w_q: Numbers, w_k: Numbers, w_v: Numbers, w_o: Numbers, heads: int
) -> Numbers:
    n, width = len(x), w_q.shape[1] // heads
    q, k = ((x @ w).reshape(n, heads, width).transpose(1, 0, 2) for w in (w_q, w_k))
    v = (x @ w_v).reshape(n, heads, -1).transpose(1, 0, 2)
    made: Numbers = arrays(q, k, v)[0].transpose(1, 0, 2).reshape(n, -1) @ w_o
    return made


def bahdanau(s: Numbers, h: Numbers, W_a: Numbers, U_a: Numbers, v_a: Numbers) -> Any:
    scores = np.tanh((s @ W_a)[:, None] + (h @ U_a)[None]) @ v_a
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    weights = raised / raised.sum(-1, keepdims=True)
    return weights @ h, weights


def lstm(
    x: Numbers, w_i: Numbers, w_f: Numbers, w_o: Numbers, w_c: Numbers, b_i: Numbers, b_f: Numbers,
    b_o: Numbers, b_c: Numbers,
) -> Numbers:  # fmt: skip
    h, c, states = np.zeros(len(b_i)), np.zeros(len(b_i)), []
    for word in x:
        z = np.concatenate([h, word])
        i, f, o = (1 / (1 + np.exp(-w @ z - b)) for w, b in ((w_i, b_i), (w_f, b_f), (w_o, b_o)))
        c = f * c + i * np.tanh(w_c @ z + b_c)
        h = o * np.tanh(c)
        states.append(h)
    return np.stack(states)


def ours(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Any:
    return regard.attend(query, key, value, mask=mask, need_weights=True)


CASES: list[tuple[Any, dict[str, Any], int]] = [
    (textbook, {}, 25),
    (einsum, {}, 25),
    (fused, {}, 25),
    (logarithms, {}, 25),
    (infinities, {}, 25),
    (one_by_one, {}, 12),
    (arrays, {}, 22),
    (integers, {}, 22),
    (loops, {"axes": 2}, 7),
    (Batches, {}, 6),
    (Batches(0.5), {}, 6),
    (Matrices, {}, 5),
    (TurnedMatrices, {}, 5),
    (Annotated, {"mechanism": "multihead"}, 13),
    (OneMap, {"mechanism": "multihead", "causal": True}, 5),
    (Wrapped, {"mechanism": "multihead"}, 5),
    (by_keys, {"mechanism": "multihead"}, 4),
    (bahdanau, {"mechanism": "additive"}, 7),
    (lstm, {"mechanism": "lstm"}, 4),
    (ours, {}, 25),
]
"""The function, how it is checked, and how many cases there are at least."""
