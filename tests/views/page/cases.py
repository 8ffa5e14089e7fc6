"""Small things to show, and what NumPy says about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

import regard
from regard.attention import MultiHeadAttention, causal
from regard.trace import Array

TOKENS = ["[CLS]", "the", "an", "##im", "##al", "it", "[SEP]"]
HOSTILE = [
    "</script><script>window.hit=1</script>",
    "<img src=x onerror=window.hit=2>",
    "\u202eright\u202c",
    "\x00nul",
    "\ud800",
    "x" * 100_000,
    '=HYPERLINK("http://a")',
    'a,b"c\nd',
    "<!--",
    "@@DATA@@",
    "שלום",
    "中文",
]


class Net(torch.nn.Module):
    """Layers of attention one after the other."""

    def __init__(self, layers: int, width: int, heads: int, **options: Any) -> None:
        super().__init__()
        made = (MultiHeadAttention(width, heads, **options) for _ in range(layers))
        self.layers = torch.nn.ModuleList(made)

    def forward(self, x: torch.Tensor, mask: Any = None) -> torch.Tensor:
        for layer in self.layers:
            x = x + layer(x, mask=mask)[0]
        return x


def observed(
    tokens: list[str],
    layers: int = 2,
    width: int = 30,
    heads: int = 3,
    is_causal: bool = False,
    seed: int = 0,
    **options: Any,
) -> Any:
    """An observation of a random model, its values kept."""
    torch.manual_seed(seed)
    net = Net(layers, width, heads, **options)
    for parameter in net.parameters():
        parameter.data *= 2
    x = torch.randn(1, len(tokens), width)
    with torch.no_grad(), regard.observe(net, tokens=tokens, values=True) as observation:
        net(x, causal() if is_causal else None)
    return observation


def saved(observation: Any, folder: Path, **options: Any) -> Path:
    path = folder / "page.html"
    observation.save_html(path, **options)
    return path


def row(observation: Any, layer: int, head: int, i: int) -> Array:
    """One row of weights in float64, from the queries and keys themselves."""
    found = observation.layer(layer)
    q = found.query[0, head].double().numpy()
    k = found.key[0, head // (found.heads // found.key_heads)].double().numpy()
    scores = q[i] @ k.T * found.rule.scale
    mask = found.rule.mask
    if mask is not None:
        allowed = mask.dense(len(q), len(k))[i].numpy()
        scores = np.where(allowed, scores, -np.inf)
    raised = np.exp(scores - scores.max())
    weights: Array = raised / raised.sum()
    return weights
