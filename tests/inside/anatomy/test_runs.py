"""What each module was given and made, copied, and which modules are layers."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.inside.anatomy.runs import ModuleRun, layers_of, recorded, same
from tests.inside.tiny import tiny


class SelfAttention(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = SelfAttention()

    def forward(self, hidden_states: Tensor) -> tuple[Tensor, None]:
        made = self.attention(hidden_states)
        made += hidden_states  # in place: what was recorded must not change
        return made, None


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 3)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm = nn.LayerNorm(3)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        for block in self.blocks:
            x = block(hidden_states=x)[0]
        found: Tensor = self.norm(x)
        return found


def test_layers_are_handed_over_as_they_run() -> None:
    net, seen = Net(), list[tuple[str, list[str]]]()
    first: list[Tensor] = []

    def done(layer: ModuleRun, inside: list[ModuleRun]) -> None:
        seen.append((layer.name, [run.name for run in inside]))
        assert layer.given is not None
        assert layer.made is not None
        assert inside[0].made is not None
        assert torch.equal(inside[0].made, 2 * layer.given)
        assert torch.equal(layer.made, 3 * layer.given)
        first.append(layer.given)

    layers = layers_of(net)
    assert list(layers.values()) == ["blocks.0", "blocks.1"]
    with recorded(net, layers, 4, 2, done) as recorder, torch.no_grad():
        net(torch.tensor([[1, 5, 7, 2]]))
    assert seen == [(f"blocks.{i}", [f"blocks.{i}.attention"]) for i in (0, 1)]
    (embedding,) = recorder.before
    assert embedding.given is None
    assert same(embedding.made, first[0][2:3])  # outside the layers only the followed row
    assert [run.name for run in recorder.after] == ["norm", ""]
    assert not net.norm._forward_hooks


def test_layers_of_models() -> None:
    """Lists in lists (ALBERT), parts of a layer in a list (T5), encoder and decoder."""
    albert = layers_of(tiny("Albert"))
    assert list(albert.values()) == ["encoder.albert_layer_groups.0.albert_layers.0"]
    t5 = tiny("T5", head="ForSeq2SeqLM")
    assert list(layers_of(t5, "decoder").values()) == ["decoder.block.0", "decoder.block.1"]
    assert len(layers_of(t5)) == 4
