"""nn.MultiheadAttention changed, alone and in nn.TransformerEncoder, fast paths and all."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.attention import MultiHeadAttention


@pytest.mark.parametrize("batch_first", [True, False])
@torch.no_grad()
def test_changes_are_those_of_the_same_attention_of_ours(batch_first: bool) -> None:
    torch.manual_seed(7)
    theirs = nn.MultiheadAttention(21, 3, batch_first=batch_first).eval()
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(2, 5, 21)
    given = x if batch_first else x.transpose(0, 1)
    outputs = []
    runs: list[tuple[nn.Module, Callable[[], Tensor]]] = [
        (ours, lambda: ours(x).context),
        (theirs, lambda: theirs(given, given, given, need_weights=False)[0]),
    ]
    for module, run in runs:
        with regard.intervene(module) as hands, regard.observe(module) as seen:
            hands.mask(layer=0, head=1, query=3, key=0)
            hands.mask(layer=0, head=2, query=4, key=(1, 2), renormalise=False)
            hands.scale(layer=0, head=0, by=0.25)
            outputs.append(run())
        assert float(seen[0, 1].dense()[3, 0]) == 0
        assert float(seen[0, 2].dense()[4, 1]) == 0
    got = outputs[1] if batch_first else outputs[1].transpose(0, 1)
    torch.testing.assert_close(got, outputs[0])


@torch.no_grad()
def test_a_layer_of_an_encoder() -> None:
    torch.manual_seed(8)
    layer = nn.TransformerEncoderLayer(12, 3, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    zeroed = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).eval()
    zeroed.load_state_dict(model.state_dict())
    x = torch.randn(2, 5, 12)
    padded = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
    before = model(x, src_key_padding_mask=padded)
    attention = zeroed.layers[1].self_attn
    assert isinstance(attention, nn.MultiheadAttention)
    attention.out_proj.weight[:, 4:8] = 0
    with regard.intervene(model) as hands:
        hands.remove(layer=1, head=1)
        got = model(x, src_key_padding_mask=padded)
    expected = zeroed(x, src_key_padding_mask=padded)
    torch.testing.assert_close(got[0], expected[0])
    torch.testing.assert_close(got[1, :3], expected[1, :3])
    assert torch.equal(model(x, src_key_padding_mask=padded), before)


@torch.no_grad()
def test_a_query_that_is_left_nothing_is_refused() -> None:
    module = nn.MultiheadAttention(6, 2, batch_first=True).eval()
    x = torch.randn(1, 3, 6)
    with regard.intervene(module) as hands:
        hands.mask(layer=0, query=1)
        with pytest.raises(regard.RegardError, match="leave it one key"):
            module(x, x, x)
        hands.changes.clear()
