"""The measures by NumPy in float64, from the weights that eager attention gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.inside.tiny import inputs, tiny


def eager(family: str) -> tuple[Any, dict[str, Any], np.ndarray]:
    """The model, what it is given, and its weights (layers, heads, n, n)."""
    given = inputs(family, lengths=(9,))
    given.pop("attention_mask")
    model = tiny(family, "eager")
    with torch.no_grad():
        seen = model(**given, output_attentions=True).attentions
    return tiny(family), given, torch.stack(seen)[:, 0].double().numpy()


def rollout(weights: np.ndarray) -> np.ndarray:
    """(layers, n, n)"""
    n = weights.shape[-1]
    sofar, found = np.eye(n), []
    for layer in weights:
        sofar = (0.5 * layer.mean(0) + 0.5 * np.eye(n)) @ sofar
        found.append(sofar)
    return np.array(found)


def norms(weights: np.ndarray, values: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Of one layer (heads, n, n), pair by pair: values (heads, n, w), matrix (heads · w, width)."""
    heads, n, _ = weights.shape
    width = values.shape[-1]
    found = np.zeros_like(weights)
    for h in range(heads):
        part = matrix[h * width : (h + 1) * width]
        for i in range(n):
            for j in range(n):
                found[h, i, j] = np.linalg.norm((weights[h, i, j] * values[h, j]) @ part)
    shares: np.ndarray = found / found.sum(-1, keepdims=True)
    return shares


def gradients(heads: int, *arrays: np.ndarray) -> np.ndarray:
    """|a ∂y/∂a| of one layer of attention, pair by pair and shared out over each row.

    Of x, u, W_Q, W_K, W_V below one another, their biases, W_O: what the layer puts out times u,
    summed, is y.
    """
    x, u, into, bias, out = arrays
    n, width = x.shape
    w = width // heads
    query, key, value = ((x @ into.T + bias)[:, i * width : (i + 1) * width] for i in range(3))
    found = np.zeros((heads, n, n))
    for h in range(heads):
        part = slice(h * w, (h + 1) * w)
        scores = query[:, part] @ key[:, part].T / np.sqrt(w)
        weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        for i in range(n):
            for j in range(n):
                slope = u[i] @ (out[:, part] @ value[j, part])
                found[h, i, j] = abs(weights[i, j] * slope)
    total = found.sum(-1, keepdims=True)
    shares: np.ndarray = np.divide(found, total, out=np.zeros_like(found), where=total > 0)
    return shares
