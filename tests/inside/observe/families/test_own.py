"""Observing regard's own modules."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

import regard
from regard.attention import KeyValueCache, MultiHeadAttention, causal, padding, window
from regard.vectors.positions import Rotary


def seen(model: nn.Module, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    with torch.no_grad(), regard.observe(model) as observation:
        output = model(*args, **kwargs)
    return observation, output


@pytest.mark.parametrize(
    "mask", [None, causal(), window(2) & causal()], ids=["-", "causal", "near"]
)
@pytest.mark.parametrize("key_heads", [4, 2])
def test_self_attention(mask: Any, key_heads: int) -> None:
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 4, key_heads=key_heads)
    x, lengths = torch.randn(2, 7, 16), torch.tensor([7, 5])
    mask = padding(lengths) if mask is None else mask & padding(lengths)
    output, weights = module(x, mask=mask, need_weights=True)
    with torch.no_grad():  # as seen() does: with gradients another kernel computes
        plain = module(x, mask=mask).context
    observation, got = seen(module, x, mask=mask)
    assert torch.equal(got.context, plain)
    assert torch.allclose(output, plain, atol=1e-6)
    for batch, n in enumerate(lengths.tolist()):
        for head in range(4):
            found = observation.map(0, head, batch)
            assert found.shape == (n, n)
            assert torch.allclose(found.dense(), weights[batch, head, :n, :n], atol=1e-6)


def test_cross_attention() -> None:
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 4, key_width=6)
    x, memory, lengths = torch.randn(2, 3, 16), torch.randn(2, 5, 6), torch.tensor([5, 4])
    weights = module(x, memory, mask=padding(lengths), need_weights=True).weights
    observation, _ = seen(module, x, memory, mask=padding(lengths))
    got = observation.map(0, 1, 1, "cross")
    assert got.shape == (3, 4)
    assert torch.allclose(got.dense(), weights[1, 1, :, :4], atol=1e-6)


@torch.no_grad()
def test_steps_with_a_cache_are_one_map() -> None:
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 2, rotary=Rotary(8))
    x = torch.randn(1, 6, 16)
    weights = module(x, mask=causal(), need_weights=True).weights
    cache = KeyValueCache()
    with regard.observe(module) as observation:
        for part in (x[:, :3], x[:, 3:4], x[:, 4:]):
            module(part, mask=causal(), cache=cache)
    assert torch.allclose(observation[0, 1].dense(), weights[0, 1], atol=1e-6)


@torch.no_grad()
def test_cross_steps_with_a_cache_are_one_map() -> None:
    torch.manual_seed(0)
    module = MultiHeadAttention(16, 2)
    x, memory = torch.randn(1, 4, 16), torch.randn(1, 5, 16)
    weights = module(x, memory, need_weights=True).weights
    cache = KeyValueCache()
    with regard.observe(module) as observation:
        for i in range(4):
            module(x[:, i : i + 1], memory, cache=cache)
    assert torch.allclose(observation.map(0, 1, 0, "cross").dense(), weights[0, 1], atol=1e-6)


def test_a_plain_model_needs_no_transformers() -> None:
    script = """
import sys
sys.modules["transformers"] = None
import torch, regard
model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(8, 2, 8), 1).eval()
with regard.observe(model) as observation:
    model(torch.randn(3, 1, 8))
print(observation[0, 1].shape)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "(3, 3)\n"


def test_nested_observations_see_it_once_each() -> None:
    model, x = regard.MultiHeadAttention(6, 3), torch.randn(2, 5, 6)
    with torch.no_grad(), regard.observe(model) as outer, regard.observe(model) as inner:
        model(x)
    assert (len(outer), len(inner)) == (1, 1)
    assert torch.equal(outer[0, 1].dense(), inner[0, 1].dense())
