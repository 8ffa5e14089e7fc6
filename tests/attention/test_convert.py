"""From and to nn.MultiheadAttention: equal outputs and equal weights under every mask."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from regard.attention import Mask, MultiHeadAttention, causal, padding, window
from regard.errors import RegardError
from regard.vectors.positions import Rotary
from tests.attention.cases import TOLERANCE, dtypes


def torch_layer(
    width: int, heads: int, dtype: torch.dtype, **options: Any
) -> nn.MultiheadAttention:
    made = nn.MultiheadAttention(width, heads, batch_first=True, dtype=dtype, **options).eval()
    for name, parameter in made.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(parameter)  # PyTorch begins with zeros, which would hide a mistake
    return made


def agree(
    ours: MultiHeadAttention,
    theirs: nn.MultiheadAttention,
    inputs: tuple[Tensor, Tensor, Tensor],
    mask: Mask | Tensor | None = None,
    **masks: Tensor | None,
) -> None:
    """The same output with and without weights, and the same weights in every head."""
    tolerance = TOLERANCE[inputs[0].dtype]
    output, weights = theirs(*inputs, need_weights=True, average_attn_weights=False, **masks)
    alone, _ = theirs(*inputs, need_weights=False, **masks)
    got = ours(*inputs, mask=mask, need_weights=True)
    for context in (got.context, ours(*inputs, mask=mask).context):
        torch.testing.assert_close(context, output, rtol=0, atol=tolerance)
        torch.testing.assert_close(context, alone, rtol=0, atol=tolerance)
    torch.testing.assert_close(got.weights, weights, rtol=0, atol=tolerance)


@st.composite
def layers(draw: st.DrawFn) -> tuple[nn.MultiheadAttention, tuple[Tensor, Tensor, Tensor]]:
    """A layer of PyTorch's and a query, a key and a value for it."""
    dtype = draw(dtypes)
    torch.manual_seed(draw(st.integers(0, 2**31)))
    heads, batch, q, k = (draw(st.integers(1, 4)) for _ in range(4))
    width = heads * draw(st.integers(1, 3))
    kdim, vdim = (draw(st.none() | st.integers(1, 5)) for _ in range(2))
    layer = torch_layer(width, heads, dtype, bias=draw(st.booleans()), kdim=kdim, vdim=vdim)
    query = torch.randn(batch, q, width, dtype=dtype)
    key, value = (torch.randn(batch, k, n or width, dtype=dtype) for n in (kdim, vdim))
    return layer, (query, key, value)


@settings(max_examples=150)
@given(made=layers(), data=st.data())
def test_equal_under_every_mask(
    made: tuple[nn.MultiheadAttention, tuple[Tensor, Tensor, Tensor]], data: st.DataObject
) -> None:
    """PyTorch's boolean masks say where one may *not* look; regard's, where one may.

    Every query keeps its first key: PyTorch gives NaN where nothing is left.
    """
    theirs, inputs = made
    ours = MultiHeadAttention.from_torch(theirs)
    (batch, q, _), k, heads = inputs[0].shape, inputs[1].shape[1], theirs.num_heads
    mask, masks = Mask(), {}
    if data.draw(st.booleans(), "key_padding_mask"):
        lengths = torch.randint(1, k + 1, (batch,))
        mask &= padding(lengths, k)
        masks["key_padding_mask"] = torch.arange(k) >= lengths.unsqueeze(1)
    shape = data.draw(st.sampled_from([None, (q, k), (batch * heads, q, k)]), "attn_mask")
    if shape is not None:
        allowed = torch.rand(shape) < 0.6
        allowed[..., 0] = True
        masks["attn_mask"] = ~allowed
        own = allowed if allowed.dim() == 2 else allowed.unflatten(0, (batch, heads))
        before = mask.allowed
        mask = Mask(allowed=own if before is None else own & before.unsqueeze(1))
    agree(ours, theirs, inputs, mask, **masks)
    agree(ours, ours.to_torch(), inputs, mask, **masks)


@pytest.mark.parametrize("mask", [causal(), window(2), window(1, 0)])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_equal_under_rules(mask: Mask, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    theirs = torch_layer(8, 2, dtype)
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(3, 7, 8, dtype=dtype)
    agree(ours, theirs, (x, x, x), mask, attn_mask=~mask.dense(7))
    hidden = torch.zeros(3, 7, dtype=torch.bool)
    hidden[1, 5:] = True
    both = mask & Mask(allowed=~hidden.unsqueeze(1))
    output = theirs(x, x, x, attn_mask=~mask.dense(7), key_padding_mask=hidden)[0]
    seen = both.dense(7).any(-1)
    tolerance = TOLERANCE[dtype]
    torch.testing.assert_close(
        ours(x, mask=both).context[seen], output[seen], rtol=0, atol=tolerance
    )


def test_a_query_that_sees_nothing_gives_the_bias_where_pytorch_gives_nan() -> None:
    theirs = torch_layer(8, 2, torch.float32)
    ours = MultiHeadAttention.from_torch(theirs)
    x = torch.randn(1, 3, 8)
    nothing = torch.zeros(3, 3, dtype=torch.bool)
    assert theirs(x, x, x, attn_mask=~nothing)[0].isnan().all()
    assert torch.equal(ours(x, mask=nothing).context[0, 0], theirs.out_proj.bias)


def test_there_and_back() -> None:
    ours = MultiHeadAttention(8, 2, key_width=5, value_width=7, dropout=0.25)
    theirs = ours.to_torch()
    back = MultiHeadAttention.from_torch(theirs)
    assert theirs.batch_first
    assert back.dropout == theirs.dropout == 0.25
    assert back.training
    assert theirs.training
    for name, parameter in ours.state_dict().items():
        assert torch.equal(parameter, back.state_dict()[name]), name


def test_the_copy_is_its_own() -> None:
    ours = MultiHeadAttention(8, 2)
    theirs = ours.to_torch()
    before = theirs.in_proj_weight.detach().clone()
    with torch.no_grad():
        ours.query.weight.zero_()
    assert torch.equal(theirs.in_proj_weight, before)


def test_dtype_and_mode_are_kept() -> None:
    ours = MultiHeadAttention.from_torch(torch_layer(8, 2, torch.float64))
    assert ours.query.weight.dtype == torch.float64
    assert not ours.training
    assert ours.to_torch().in_proj_weight.dtype == torch.float64


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn"])
def test_keys_that_belong_to_no_token_are_refused(option: str) -> None:
    theirs = nn.MultiheadAttention(8, 2, **{option: True})
    with pytest.raises(
        RegardError, match="add_bias_kv or add_zero_attn has keys that belong to no"
    ):
        MultiHeadAttention.from_torch(theirs)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"key_heads": 1}, "got 2 and 1 heads of 4 in width 8"),
        ({"head_width": 3}, "got 2 and 2 heads of 3 in width 8"),
        ({"rotary": Rotary(4)}, "cannot turn its queries and keys"),
    ],
)
def test_what_pytorch_cannot_do_is_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(RegardError, match=text):
        MultiHeadAttention(8, 2, **options).to_torch()
