"""Variants in batches from their layer on: the same outputs as one hooked pass for each head."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.inside.ablate.engine import engine
from regard.inside.ablate.variant import HeadAt, Variant

KINDS = {"self": "self", "encoder": "encoder", "decoder": "decoder", "cross": "cross"}

ENDINGS = {
    "Llama": {"Linear", "LlamaRMSNorm", "LlamaMLP"},
    "GPT2": {"Conv1D", "LayerNorm", "GPT2MLP"},
    "Roberta": set[str](),
    "Bart": set[str](),
}
"""What runs for the measured position alone: W_O of the last attention, and what is behind it."""


@torch.inference_mode()
def one_by_one(trial: Any, head: HeadAt) -> Tensor:
    with regard.intervene(trial.network) as hands:
        hands.remove(head.layer, head.head, kind=head.part)
        output: Tensor = trial.run(1)
    return output


@pytest.mark.parametrize("family", ["Llama", "GPT2", "Roberta", "Bart"])
def test_batches_from_a_layer_on_are_passes_from_the_beginning(
    family: str, trials: dict[str, Any]
) -> None:
    trial = trials[family]
    with engine(trial) as running:
        heads = running.heads
        assert len(heads) == {"Llama": 8, "GPT2": 6, "Roberta": 6, "Bart": 14}[family]
        base = running.base.clone()
        names = {type(module).__name__ for module in running.ending}
        assert names == ENDINGS[family]
        variants = [Variant((head,), how={"by": "zero"}) for head in heads]
        got: dict[int, Tensor] = {}
        for places, output in running.run(variants):
            got |= {i: row for i, row in zip(places, output, strict=True)}
        assert running.blocks.of(running.blocks.names[-1] + ".x") == len(running.blocks.names) - 1
    for i, head in enumerate(heads):
        torch.testing.assert_close(got[i], one_by_one(trial, head)[0], rtol=1e-4, atol=1e-5)
    with torch.inference_mode():
        assert torch.equal(trial.run(1), base)
    assert not any("forward" in vars(module) for module in trial.network.modules())


def test_a_smaller_memory_makes_smaller_batches(trials: dict[str, Any]) -> None:
    trial = trials["Llama"]
    sizes = {}
    for memory in (1, 1 << 30):
        with engine(trial, memory) as running:
            variants = [Variant((head,), how={"by": "zero"}) for head in running.heads]
            sizes[memory] = [len(places) for places, _ in running.run(variants)]
    assert sizes == {1: [1] * 8, 1 << 30: [4, 4]}
