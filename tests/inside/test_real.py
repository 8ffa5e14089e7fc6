"""Real models: observed weights are those that eager attention returns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.inside.textmodel import load

TEXT = "The animal didn't cross the street because it was too tired. It sat down, and slept."


@torch.no_grad()
def differences(network: Any, ids: Tensor) -> tuple[float, float, float]:
    """Of all weights from eager's: observed in that very pass; in a fused pass of its own; and
    eager's own from float64's, the rounding that any pass in float32 has."""

    def worst(observation: regard.Observation, weights: Any) -> float:
        return max(
            float((observation[layer, head].dense() - row).abs().max())
            for layer, heads in enumerate(weights)
            for head, row in enumerate(heads[0])
        )

    assert network.config._attn_implementation == "sdpa"
    plain = network(input_ids=ids)[0]
    with regard.observe(network) as fused:
        assert torch.equal(network(input_ids=ids)[0], plain)
    network.set_attn_implementation("eager")
    with regard.observe(network) as same:
        eager = network(input_ids=ids, output_attentions=True).attentions
    assert len(eager) == len(fused) == len(same)
    exact = network.double()(input_ids=ids, output_attentions=True).attentions
    rounding = max(float((a - b).abs().max()) for a, b in zip(eager, exact, strict=True))
    found = worst(same, eager), worst(fused, eager), rounding
    print("same pass {:.1e}, fused {:.1e}, eager from float64 {:.1e}".format(*found))
    return found


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_minilm(minilm: Path) -> None:
    from transformers import AutoModel

    network = AutoModel.from_pretrained(minilm).eval()
    same, fused, rounding = differences(network, torch.tensor([load("minilm").read(TEXT).ids]))
    assert same < 1e-6
    assert fused < 4 * rounding


@pytest.mark.skipif(
    os.environ.get("REGARD_SMOLLM2") != "1",
    reason="REGARD_SMOLLM2=1 fetches SmolLM2-135M (93 MB) and compares all its weights",
)
def test_smollm2() -> None:
    model = load("smollm2")
    same, fused, rounding = differences(model.network, torch.tensor([model.read(TEXT).ids]))
    assert same < 1e-6
    assert fused < 4 * rounding
