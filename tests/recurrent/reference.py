"""The recurrent equations as loops over NumPy float64, written from the papers, for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

Array = np.ndarray[Any, np.dtype[np.float64]]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def numpy_of(module: nn.Module) -> dict[str, Array]:
    return {name: tensor.detach().numpy() for name, tensor in module.state_dict().items()}


def simple(x: Array, A: Array, b: Array) -> Array:
    """h_t = tanh(A[x_t; h_{t-1}] + b) of one sequence (n, width)."""
    h = np.zeros(len(b))
    states = []
    for x_t in x:
        h = np.tanh(A @ np.concatenate((x_t, h)) + b)
        states.append(h)
    return np.array(states)


def gated_step(p: dict[str, Array], x: Array, s: Array, c: Array | None = None) -> Array:
    """One step of Bahdanau's gated unit (appendix A.1.1), every matrix applied by itself."""
    h = len(s)
    W_z, W_r, W = (p["inputs.weight"][i * h : (i + 1) * h] for i in range(3))
    b_z, b_r, b = (p["inputs.bias"][i * h : (i + 1) * h] for i in range(3))
    U_z, U_r, U = p["gates"][:h], p["gates"][h:], p["candidate"]
    C_z = C_r = C = np.zeros((h, 1))
    if c is None:
        c = np.zeros(1)
    else:
        C_z, C_r, C = (p["context.weight"][i * h : (i + 1) * h] for i in range(3))
    z = sigmoid(W_z @ x + U_z @ s + C_z @ c + b_z)
    r = sigmoid(W_r @ x + U_r @ s + C_r @ c + b_r)
    candidate = np.tanh(W @ x + U @ (r * s) + C @ c + b)
    return (1 - z) * s + z * candidate


def gated(p: dict[str, Array], x: Array, s: Array, c: Array | None = None) -> Array:
    """The states of one sequence (n, width)."""
    states = []
    for x_t in x:
        s = gated_step(p, x_t, s, c)
        states.append(s)
    return np.array(states)


def part(p: dict[str, Array], name: str) -> dict[str, Array]:
    """The parameters whose names begin with ``name.``, without it."""
    return {key[len(name) + 1 :]: value for key, value in p.items() if key.startswith(f"{name}.")}


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


def softmax(e: Array) -> Array:
    w = np.exp(e - e.max())
    shares: Array = w / w.sum()
    return shares


def self_attentive(
    p: dict[str, Array], x: Array, window: int | None = None
) -> tuple[Array, Array, Array]:
    """States, contexts and weights of the simple RNN with self-attention, one sequence."""
    n, width = len(x), len(p["inputs.bias"])
    A, b = np.hstack((p["inputs.weight"], p["recurrent"])), p["inputs.bias"]
    h, c, states, contexts = np.zeros(width), np.zeros(width), [], []
    weights = np.zeros((n, n))
    for t in range(n):
        extra = p["previous"] @ h if "previous" in p else 0
        h = np.tanh(A @ np.concatenate((x[t], c)) + extra + b)
        states.append(h)
        first = 0 if window is None else max(t + 1 - window, 0)
        if "v" in p:
            W = np.hstack((p["w_key"], p["w_query"]))
            e = [p["v"] @ np.tanh(W @ np.concatenate((h_i, h))) for h_i in states[first:]]
        else:
            e = [(p["w_key"] @ h_i) @ (p["w_query"] @ h) for h_i in states[first:]]
        weights[t, first : t + 1] = softmax(np.array(e))
        c = sum(weights[t, i] * states[i] for i in range(t + 1))
        contexts.append(c)
    return np.array(states), np.array(contexts), weights


def lstmn(
    p: dict[str, Array], x: Array, window: int | None = None
) -> tuple[Array, Array, Array, Array]:
    """States, cells, h~ and weights of the LSTMN (Cheng et al. 2016, 3.1), one sequence."""
    n, width = len(x), len(p["v"])
    W, b = np.hstack((p["recurrent"], p["inputs.weight"])), p["inputs.bias"]
    h: list[Array] = []
    c: list[Array] = []
    recalled = [np.zeros(width)]
    weights = np.zeros((n, n))
    for t in range(n):
        old_h, old_c = np.zeros(width), np.zeros(width)
        first = 0 if window is None else max(t - window, 0)
        if t:
            q = p["w_input"] @ x[t] + p["w_summary"] @ recalled[-1]
            e = [p["v"] @ np.tanh(p["w_key"] @ h[i] + q) for i in range(first, t)]
            e[-1] += p["recency"][0] if "recency" in p else 0
            weights[t, first:t] = softmax(np.array(e))
            old_h = sum(weights[t, i] * h[i] for i in range(t))
            old_c = sum(weights[t, i] * c[i] for i in range(t))
        i, f, g, o = np.split(W @ np.concatenate((old_h, x[t])) + b, 4)
        c.append(sigmoid(f) * old_c + sigmoid(i) * np.tanh(g))
        h.append(sigmoid(o) * np.tanh(c[-1]))
        recalled.append(old_h)
    return np.array(h), np.array(c), np.array(recalled[1:]), weights


def additive_look(
    query: Array, keys: list[Array], tapes: list[tuple[Array, Array]], w: Array, v: Array
) -> tuple[Array, Array, Array]:
    """Weights v · tanh(w k_i + query) and the two tapes mixed by them."""
    a = softmax(np.array([v @ np.tanh(w @ k + query) for k in keys]))
    state = sum(a_i * h for a_i, (h, _) in zip(a, tapes, strict=True))
    cell = sum(a_i * c for a_i, (_, c) in zip(a, tapes, strict=True))
    return a, state, cell


def fusion(
    p: dict[str, Array], x: Array, source: list[tuple[Array, Array]], deep: bool
) -> tuple[Array, Array, Array]:
    """States, what the source gave and where (Cheng et al. 2016, section 4), one sentence.

    ``source`` holds (g_j, m_j); the decoder's tapes begin with the last of them.
    """
    own, width = part(p, "own"), len(p["u"])
    tapes, h_tilde, g_tilde = [source[-1]], np.zeros(width), np.zeros(width)
    states, found, weights = [], [], []
    sources = [g for g, _ in source]
    for x_t in x:
        if deep:
            query = p["w_input"] @ x_t + p["w_found"] @ g_tilde
        else:
            query = p["w_before"] @ tapes[-1][0]
        b, g_tilde, m_tilde = additive_look(query, sources, source, p["w_source"], p["u"])
        z = x_t if deep else np.concatenate((x_t, g_tilde))
        query = own["w_input"] @ z + own["w_summary"] @ h_tilde
        written = [h for h, _ in tapes]
        _, h_tilde, c_tilde = additive_look(query, written, tapes, own["w_key"], own["v"])
        W = np.hstack((own["recurrent"], own["inputs.weight"]))
        i, f, g, o = np.split(W @ np.concatenate((h_tilde, z)) + own["inputs.bias"], 4)
        c = sigmoid(f) * c_tilde + sigmoid(i) * np.tanh(g)
        if deep:
            r = sigmoid(p["gate.weight"] @ np.concatenate((g_tilde, x_t)) + p["gate.bias"])
            c = c + r * m_tilde
        h = sigmoid(o) * np.tanh(c)
        tapes.append((h, c))
        states.append(h)
        found.append(g_tilde)
        weights.append(b)
    return np.array(states), np.array(found), np.array(weights)
