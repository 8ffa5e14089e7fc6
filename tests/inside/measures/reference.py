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
    return found / found.sum(-1, keepdims=True)
