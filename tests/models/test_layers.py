"""The Transformer's layers against PyTorch's with the same weights, and token by token."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from regard.attention import KeyValueCache, causal, padding
from regard.models.layers import DecoderLayer, EncoderLayer, FeedForward
from regard.models.padding import RealRows, real_rows
from tests.models.torchtwin import copy_layer

LENGTHS = torch.tensor([5, 2, 4])
norms = pytest.mark.parametrize("norm", ["pre", "post"])


class Shape(NamedTuple):
    norm: str
    width: int = 6
    heads: int = 2
    feedforward: int = 11
    dropout: float = 0.0

    def torch(self) -> dict[str, Any]:
        """As PyTorch's layers take it."""
        return {
            "d_model": self.width,
            "nhead": self.heads,
            "dim_feedforward": self.feedforward,
            "dropout": 0.0,
            "batch_first": True,
            "norm_first": self.norm == "pre",
            "dtype": torch.float64,
        }


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64)


def test_a_feed_forward_network_by_hand() -> None:
    made = FeedForward(1, 2)
    with torch.no_grad():
        made.inner.weight.copy_(torch.tensor([[1.0], [-1.0]]))
        made.inner.bias.copy_(torch.tensor([0.0, 1.0]))
        made.outer.weight.copy_(torch.tensor([[3.0, 5.0]]))
        made.outer.bias.fill_(7)
    assert made(torch.tensor([[2.0], [-1.0]])).flatten().tolist() == [13, 17]


@norms
@pytest.mark.parametrize("held", ["all", "real"])
def test_the_encoder_layer_is_pytorchs(norm: str, held: str) -> None:
    ours, x = EncoderLayer(Shape(norm)).double(), random(3, 5, 6)
    theirs = nn.TransformerEncoderLayer(**Shape(norm).torch()).eval()
    copy_layer(ours, theirs)
    rows = RealRows.of(real_rows(LENGTHS, 5) if held == "real" else None, 3, 5)
    got = rows.spread(ours(rows.gather(x), rows, padding(LENGTHS, 5)))
    pad = torch.arange(5) >= LENGTHS.unsqueeze(-1)
    expected = theirs(x, src_key_padding_mask=pad)
    torch.testing.assert_close(got[~pad], expected[~pad], rtol=0, atol=1e-12)


@norms
def test_the_decoder_layer_is_pytorchs(norm: str) -> None:
    ours, x, memory = DecoderLayer(Shape(norm)).double(), random(3, 4, 6), random(3, 5, 6)
    theirs = nn.TransformerDecoderLayer(**Shape(norm).torch()).eval()
    copy_layer(ours, theirs)
    rows = RealRows.of(None, 3, 4)
    got = rows.spread(ours(rows.gather(x), rows, memory, padding(LENGTHS, 5)))
    ahead = torch.ones(4, 4, dtype=torch.bool).triu(1)
    pad = torch.arange(5) >= LENGTHS.unsqueeze(-1)
    expected = theirs(x, memory, tgt_mask=ahead, memory_key_padding_mask=pad)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


@norms
def test_one_token_at_a_time_is_all_at_once(norm: str) -> None:
    made, x, memory = DecoderLayer(Shape(norm)).double().eval(), random(3, 4, 6), random(3, 5, 6)
    rows, mask = RealRows.of(None, 3, 4), padding(LENGTHS, 5)
    whole = rows.spread(made(rows.gather(x), rows, memory, mask))
    caches = KeyValueCache(), KeyValueCache()
    for t in range(4):
        now = x[:, t : t + 1]
        y, weights = made.step(now, causal(), memory, mask, caches, need_weights=True)
        torch.testing.assert_close(y[:, 0], whole[:, t], rtol=0, atol=1e-12)
        assert weights is not None
        assert weights.shape == (3, 2, 1, 5)
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


@norms
def test_the_cross_attentions_weights_are_added_where_they_are_wanted(norm: str) -> None:
    made, x, memory = DecoderLayer(Shape(norm)).double().eval(), random(3, 4, 6), random(3, 5, 6)
    rows, mask, looked = RealRows.of(None, 3, 4), padding(LENGTHS, 5), list[torch.Tensor]()
    plain = made(rows.gather(x), rows, memory, mask)
    torch.testing.assert_close(made(rows.gather(x), rows, memory, mask, looked), plain)
    (weights,) = looked
    assert weights.shape == (3, 2, 4, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
