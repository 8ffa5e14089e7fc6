"""Attention in NumPy, as it is written and is wrong: each makes one usual mistake."""

from __future__ import annotations

from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[Any]]
Mask = Numbers | None


def softmax(scores: Numbers, axis: int = -1) -> Numbers:
    raised = np.exp(scores - scores.max(axis=axis, keepdims=True))
    made: Numbers = raised / raised.sum(axis=axis, keepdims=True)
    return made


def scores_of(q: Numbers, k: Numbers) -> Numbers:
    made: Numbers = q @ k.swapaxes(-1, -2) / np.sqrt(k.shape[-1])
    return made


def not_scaled(Q: Numbers, K: Numbers, V: Numbers, mask: Mask = None) -> tuple[Numbers, Numbers]:
    scores = np.matmul(Q, np.swapaxes(K, -1, -2))
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = softmax(scores)
    return weights @ V, weights


def by_d_k(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(q @ k.swapaxes(-1, -2) / k.shape[-1]) @ v


def multiplied(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(q @ k.swapaxes(-1, -2) * k.shape[-1] ** 0.5) @ v


def by_number_of_queries(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-2])) @ v


def over_queries(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(scores_of(q, k), axis=-2) @ v


def over_axis_zero(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(scores_of(q, k), axis=0) @ v


def over_everything(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    raised = np.exp(scores_of(q, k) - scores_of(q, k).max())
    made: Numbers = raised / raised.sum() @ v
    return made


def masked_late(q: Numbers, k: Numbers, v: Numbers, mask: Mask = None) -> Numbers:
    weights = softmax(scores_of(q, k))
    if mask is not None:
        weights = np.where(mask, weights, 0)
    return weights @ v


def mask_forgotten(q: Numbers, k: Numbers, v: Numbers, mask: Mask = None) -> Numbers:
    return softmax(scores_of(q, k)) @ v


def mask_inverted(q: Numbers, k: Numbers, v: Numbers, mask: Mask = None) -> Numbers:
    scores = scores_of(q, k)
    if mask is not None:
        scores[np.broadcast_to(mask, scores.shape)] = -1e9
    return softmax(scores) @ v


def masked_to_zero(q: Numbers, k: Numbers, v: Numbers, mask: Mask = None) -> Numbers:
    scores = scores_of(q, k)
    return softmax(scores if mask is None else scores * mask) @ v


def mask_added(q: Numbers, k: Numbers, v: Numbers, mask: Mask = None) -> Numbers:
    scores = scores_of(q, k)
    return softmax(scores if mask is None else scores + mask) @ v


def empty_rows(q: Numbers, k: Numbers, v: Numbers, mask: Mask = None) -> Numbers:
    scores = scores_of(q, k)
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf)) @ v


def each_alone(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    made: Numbers = 1 / (1 + np.exp(-scores_of(q, k))) @ v
    return made


def no_exponential(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    scores = scores_of(q, k)
    made: Numbers = scores / scores.sum(-1, keepdims=True) @ v
    return made


def no_softmax(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return scores_of(q, k) @ v


def key_for_value(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(scores_of(q, k)) @ k


def overflows(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    raised = np.exp(scores_of(q, k))
    made: Numbers = raised / raised.sum(-1, keepdims=True) @ v
    return made


def in_place(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    q /= np.sqrt(k.shape[-1])
    return softmax(q @ k.swapaxes(-1, -2)) @ v


def turned_round(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    return softmax(q @ k.T / np.sqrt(k.shape[-1])) @ v


def leaks(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    later = np.triu(np.ones((q.shape[-2], q.shape[-2]), dtype=bool), k=2)
    return softmax(np.where(later, -1e9, scores_of(q, k))) @ v


def turned_mask(q: Numbers, k: Numbers, v: Numbers) -> Numbers:
    seen = np.triu(np.ones((q.shape[-2], q.shape[-2]), dtype=bool))
    return softmax(np.where(seen, scores_of(q, k), -1e9)) @ v


def simple_scaled(x: Numbers) -> Numbers:
    return softmax(x @ x.T / np.sqrt(x.shape[-1])) @ x


def heads_turned(
    x: Numbers, w_q: Numbers, w_k: Numbers, w_v: Numbers, w_o: Numbers, heads: int
) -> Numbers:
    q, k, v = (np.split(x @ w, heads, axis=-1) for w in (w_q, w_k, w_v))
    made = [softmax(scores_of(q[h], k[h])) @ v[h] for h in range(heads)]
    joined: Numbers = np.concatenate(made[::-1], axis=-1) @ w_o
    return joined


def w_q_for_w_k(x: Numbers, W_q: Numbers, W_k: Numbers, W_v: Numbers) -> Numbers:
    made: Numbers = softmax(scores_of(x @ W_q, x @ W_q)) @ (x @ W_v)
    return made


def additive_without_tanh(
    s: Numbers, h: Numbers, W_a: Numbers, U_a: Numbers, v_a: Numbers
) -> Numbers:
    made: Numbers = softmax(((s @ W_a)[:, None] + (h @ U_a)[None]) @ v_a) @ h
    return made


def rnn_in_the_wrong_order(x: Numbers, A: Numbers, b: Numbers) -> Numbers:
    h, states = np.zeros(len(b)), []
    for word in x:
        h = np.tanh(A @ np.concatenate([h, word]) + b)
        states.append(h)
    return np.stack(states)


CASES: list[tuple[Any, dict[str, Any], str, str]] = [
    (not_scaled, {}, "not scaled", "not divided by sqrt(d_k)"),
    (by_d_k, {}, "divided by d_k", "divided by d_k"),
    (multiplied, {}, "multiplied", "multiplied by sqrt(d_k)"),
    (by_number_of_queries, {}, "wrong width", "the number of queries"),
    (over_queries, {}, "wrong axis", "softmax is taken over the queries"),
    (over_axis_zero, {}, "axis 0", "softmax is taken over axis 0"),
    (over_everything, {}, "all axes", "over all numbers at once"),
    (masked_late, {}, "masked late", "Right without a mask; with one"),
    (mask_forgotten, {}, "no mask", "the mask is forgotten"),
    (mask_inverted, {}, "mask inverted", "the mask is read the other way round"),
    (masked_to_zero, {}, "masked to zero", "masked scores are set to 0"),
    (mask_added, {}, "mask added", "the mask is added to the scores"),
    (empty_rows, {}, "empty", "NaN in rows that may attend to nothing"),
    (each_alone, {}, "each alone", "softmax is taken of each score alone"),
    (no_exponential, {}, "no exponential", "without exponentials"),
    (no_softmax, {}, "no softmax", "softmax is left out"),
    (key_for_value, {}, "key for value", "the key is taken for the value"),
    (overflows, {}, "overflow", "softmax overflows"),
    (in_place, {}, "changed", "it changes its own arguments: queries"),
    (turned_round, {}, "error", "Right with two axes; with a batch axis in front, it raises"),
    (leaks, {"causal": True}, "leaks the next word", "each word sees the next one"),
    (turned_mask, {"causal": True}, "mask turned", "triu stands for tril"),
    (simple_scaled, {"mechanism": "simple"}, "scaled", "divided by the root of their width"),
    (heads_turned, {"mechanism": "multihead"}, "heads' order", "in the wrong order"),
    (w_q_for_w_k, {}, "another matrix", "W_Q is used for W_K"),
    (additive_without_tanh, {"mechanism": "additive"}, "no tanh", "tanh is forgotten"),
    (rnn_in_the_wrong_order, {"mechanism": "simple-rnn"},
     "x and h are concatenated in the wrong order", "concatenated in the wrong order"),
]  # fmt: skip
"""The function, how it is checked, the fault's name, and part of what is said."""
