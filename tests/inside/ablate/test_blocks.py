"""Blocks that give what they gave, in as many rows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.inside.ablate.blocks import Blocks, rows_within


class Stack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))
        self.count = 0

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
        return x


@torch.inference_mode()
def test_lower_blocks_are_not_computed_again() -> None:
    model, x = Stack(), torch.randn(1, 5, 3)
    blocks = Blocks(model)
    with blocks.kept():
        expected = model(x)
    assert blocks.names == [f"layers.{i}" for i in range(4)]
    assert (blocks.of("layers.2.attention"), blocks.of("embedding")) == (2, 0)
    with blocks.from_block(3, 6):
        got = model(
            torch.full((6, 5, 3), torch.nan)
        )  # whatever comes in, layer 2 gives what it gave
    assert got.shape == (6, 5, 3)
    torch.testing.assert_close(got, expected.expand(6, -1, -1))
    assert torch.equal(model(x), expected)


@torch.inference_mode()
def test_a_block_that_runs_twice_is_none() -> None:
    model = Stack()
    model.layers = nn.ModuleList([model.layers[0]] * 2)
    blocks = Blocks(model)
    with blocks.kept():
        model(torch.randn(1, 2, 3))
    assert blocks.names == []


@pytest.mark.parametrize(("memory", "rows"), [(1, 1), (10**6, 80)])
def test_rows_by_memory(memory: int, rows: int) -> None:
    """Of 4 x 64 positions x 12 numbers and the widest result twice, 4 bytes each."""
    model = nn.Sequential(nn.Linear(12, 7), nn.Linear(7, 12))
    assert rows_within(model, 64, memory) == pytest.approx(rows, abs=1)


class Mixing(nn.Module):
    """A block whose last child looks at all positions."""

    def __init__(self) -> None:
        super().__init__()
        self.attention, self.wide, self.mean = nn.Linear(3, 3), nn.Linear(3, 3), Mean()

    def forward(self, x: Tensor) -> Tensor:
        made: Tensor = self.mean(self.wide(self.attention(x)))
        return made


class Mean(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.cumsum(1)


@torch.inference_mode()
def test_behind_the_last_attention_one_position_is_enough() -> None:
    model, block, x = Stack(), Mixing(), torch.randn(1, 5, 3)
    model.layers = nn.ModuleList([nn.Linear(3, 3), block])
    blocks = Blocks(model)
    with blocks.kept():
        model(x)
    expected = block.wide(x[:, 2]).expand(4, -1)
    found = blocks.after_attention(["layers.1.attention"], lambda: model(x), 2)
    assert found == [block.wide], "what mixes positions is computed for all"
    with blocks.at_position(found, 2):
        made = block.wide(x.expand(4, -1, -1))
    assert made.shape == (4, 5, 3)
    torch.testing.assert_close(made[:, 2], expected)
    assert not made[:, [0, 1, 3, 4]].any()
    assert "forward" not in vars(block.wide)
