"""MultiHeadAttention: self, cross, grouped, cached, dropped out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import regard
from regard.attention import (
    KeyValueCache,
    Mask,
    MultiHeadAttention,
    causal,
    padding,
    self_attention,
    window,
)
from regard.errors import RegardError, ShapeError
from regard.vectors.positions import Rotary


def make(*args: Any, **options: Any) -> MultiHeadAttention:
    """A layer in float64 with biases that are not zero."""
    torch.manual_seed(0)
    layer = MultiHeadAttention(*args, **options).double().eval()
    for name, parameter in layer.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter)
    return layer


def randn(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def close(got: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-12)


def test_is_self_attention_with_matrices_of_its_own() -> None:
    layer = make(6, 2, bias=False)
    x = randn(3, 5, 6)
    parts = (layer.query, layer.key, layer.value, layer.output)
    expected = self_attention(x, *(p.weight.mT for p in parts), heads=2, need_weights=True)
    got = layer(x, need_weights=True)
    close(got.context, expected.context)
    assert got.weights is not None
    assert expected.weights is not None
    close(got.weights, expected.weights)
    assert layer(x).weights is None
    close(layer(x).context, expected.context)


def test_cross_attention() -> None:
    """Distinct primes: no two axes can be taken for each other."""
    layer = make(6, 2, key_width=7, value_width=11)
    query, key, value = randn(3, 5, 6), randn(3, 13, 7), randn(3, 13, 11)
    output, weights = layer(query, key, value, need_weights=True)
    assert output.shape == (3, 5, 6)
    assert weights.shape == (3, 2, 5, 13)
    q, k, v = layer.query(query), layer.key(key), layer.value(value)
    for head in range(2):
        own = slice(3 * head, 3 * head + 3)
        scores = q[..., own] @ k[..., own].mT / 3**0.5
        close(weights[:, head], scores.softmax(-1))
    heads = [weights[:, h] @ v[..., 3 * h : 3 * h + 3] for h in range(2)]
    close(output, layer.output(torch.cat(heads, -1)))


def test_values_come_from_the_keys_unless_given() -> None:
    layer = make(6, 2, key_width=7)
    memory = randn(3, 13, 7)
    query = randn(3, 5, 6)
    close(layer(query, memory).context, layer(query, memory, memory).context)


@pytest.mark.parametrize("key_heads", [1, 2, 4])
def test_grouped_heads_share_keys_and_values(key_heads: int) -> None:
    """The same as a layer with all heads whose key and value matrices are repeated."""
    grouped, whole = make(8, 4, key_heads=key_heads), make(8, 4)
    state = grouped.state_dict()
    for name in ("key", "value"):
        for kind in ("weight", "bias"):
            part = state[f"{name}.{kind}"].unflatten(0, (key_heads, 2))
            state[f"{name}.{kind}"] = part.repeat_interleave(4 // key_heads, 0).flatten(0, 1)
    whole.load_state_dict(state)
    x = randn(3, 5, 8)
    for need_weights in (False, True):
        ours = grouped(x, mask=causal(), need_weights=need_weights)
        close(ours.context, whole(x, mask=causal()).context)
    close(ours.weights, whole(x, mask=causal(), need_weights=True).weights)


def test_head_width_may_be_chosen() -> None:
    layer = make(6, 4, head_width=5)
    assert layer(randn(3, 7, 6)).context.shape == (3, 7, 6)


@pytest.mark.parametrize("bias", [True, False])
def test_bias_on_or_off(bias: bool) -> None:
    names = {name for name, _ in MultiHeadAttention(6, 2, bias=bias).named_parameters()}
    matrices = {f"{part}.weight" for part in ("query", "key", "value", "output")}
    assert names == matrices | ({name.replace("weight", "bias") for name in matrices if bias})
    fresh = MultiHeadAttention(6, 2)
    assert not fresh.query.bias.any()


def test_unbatched_and_twice_batched_input() -> None:
    layer = make(6, 2)
    x = randn(2, 3, 5, 6)
    whole = layer(x, mask=causal(), need_weights=True)
    assert whole.weights.shape == (2, 3, 2, 5, 5)
    one = layer(x[1, 2], mask=causal(), need_weights=True)
    close(one.context, whole.context[1, 2])
    close(one.weights, whole.weights[1, 2])
    mask = torch.rand(2, 3, 5, 5) < 0.7
    close(layer(x, mask=mask).context[1], layer(x[1], mask=mask[1]).context)


def test_empty_input() -> None:
    assert make(6, 2)(randn(3, 0, 6)).context.shape == (3, 0, 6)


@pytest.mark.parametrize("need_weights", [False, True])
def test_masks_of_batch_and_of_heads(need_weights: bool) -> None:
    """Two sentences and two heads: an axis taken for the other would not raise."""
    layer, x = make(6, 2), randn(2, 5, 6)
    by_batch = torch.rand(2, 5, 5) < 0.6
    by_head = torch.rand(2, 2, 5, 5) < 0.6
    got = layer(x, mask=by_batch, need_weights=need_weights).context
    for one in range(2):
        close(got[one], layer(x[one], mask=by_batch[one]).context)
    spread = by_batch.unsqueeze(1).expand(2, 2, 5, 5)
    close(got, layer(x, mask=spread, need_weights=need_weights).context)
    weights = layer(x, mask=by_head, need_weights=True).weights
    assert (weights[~by_head] == 0).all()
    close(
        layer(x, mask=by_head).context,
        layer(x, mask=by_head, need_weights=True).context,
    )


def test_padding_gives_what_the_sentence_alone_gives() -> None:
    layer, x = make(6, 2), randn(3, 5, 6)
    lengths = torch.tensor([5, 2, 3])
    for mask in (padding(lengths), padding(lengths) & causal(), padding(lengths) & window(1)):
        rules = Mask(mask.causal, mask.before, mask.after)
        output = layer(x, mask=mask).context
        for row, length in enumerate(lengths):
            alone = layer(x[row, :length], mask=rules).context
            close(output[row, :length], alone)


def cached(layer: MultiHeadAttention, x: Tensor, parts: list[int]) -> Tensor:
    cache = KeyValueCache()
    outputs = [layer(part, mask=causal(), cache=cache).context for part in x.split(parts, -2)]
    assert cache.length == sum(parts)
    return torch.cat(outputs, -2)


@given(parts=st.lists(st.integers(1, 4), min_size=1, max_size=7), key_heads=st.sampled_from([1, 2]))
@pytest.mark.parametrize("rotary", [None, Rotary(4), Rotary(4, interleaved=True)])
def test_reading_in_parts_with_a_cache_equals_reading_at_once(
    rotary: Rotary | None, parts: list[int], key_heads: int
) -> None:
    layer = make(8, 2, key_heads=key_heads, rotary=rotary)
    x = randn(3, sum(parts), 8)
    with torch.no_grad():
        close(cached(layer, x, parts), layer(x, mask=causal()).context)


def test_step_by_step() -> None:
    layer = make(8, 2, rotary=Rotary(4))
    x = randn(3, 19, 8)
    with torch.no_grad():
        close(cached(layer, x, [1] * 19), layer(x, mask=causal()).context)
        close(cached(layer, x[0], [1] * 19), layer(x[0], mask=causal()).context)


def test_a_cache_grows_by_doubling() -> None:
    cache = KeyValueCache()
    sizes = set()
    for step in range(100):
        key = torch.full((1, 1, 1, 2), float(step))
        with torch.no_grad():
            cache.append(key, -key)
        assert cache.keys is not None
        sizes.add(cache.keys.shape[-2])
    assert len(sizes) < 10
    keys, values = cache.all()
    assert keys[0, 0, :, 0].tolist() == list(range(100))
    assert torch.equal(values, -keys)


def test_select_follows_the_hypotheses_of_a_beam() -> None:
    layer = make(8, 2)
    x = randn(3, 6, 8)
    rows = torch.tensor([2, 0, 0, 1])
    with torch.no_grad():
        cache = KeyValueCache()
        layer(x[:, :4], mask=causal(), cache=cache)
        cache.select(rows)
        got = [layer(x[rows, i : i + 1], mask=causal(), cache=cache).context for i in (4, 5)]
        close(torch.cat(got, 1), layer(x[rows], mask=causal()).context[:, 4:])
    KeyValueCache().select(rows)  # an empty one has nothing to reorder


def test_a_cross_attention_cache_projects_the_memory_once() -> None:
    layer = make(8, 2, key_width=7)
    x, memory = randn(3, 5, 8), randn(3, 11, 7)
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    layer.key.register_forward_hook(count)
    mask = padding(torch.tensor([11, 4, 7]))
    whole = layer(x, memory, mask=mask).context
    cache = KeyValueCache()
    calls = 0
    steps = [layer(part, memory, mask=mask, cache=cache).context for part in x.split(1, 1)]
    close(torch.cat(steps, 1), whole)
    assert calls == 1
    assert cache.length == 11


def test_an_empty_cache_says_so() -> None:
    with pytest.raises(RegardError, match="this cache is empty: append to it first"):
        KeyValueCache().all()


def test_a_cross_attention_cache_refuses_rotary_positions() -> None:
    layer, x = make(8, 2, rotary=Rotary(4)), randn(1, 3, 8)
    layer(x, x)
    with pytest.raises(RegardError, match="does not know where the queries stand"):
        layer(x, x, cache=KeyValueCache())


def test_dropout_only_in_training() -> None:
    layer = make(8, 2, dropout=0.5)
    x = randn(3, 5, 8)
    for need_weights in (False, True):
        layer.eval()
        still = layer(x, need_weights=need_weights).context
        assert torch.equal(still, layer(x, need_weights=need_weights).context)
        layer.train()
        assert not torch.equal(still, layer(x, need_weights=need_weights).context)


def test_the_layer_learns() -> None:
    layer, x = make(8, 2), randn(3, 5, 8)
    for need_weights in (False, True):
        layer.zero_grad()
        layer(x, mask=causal(), need_weights=need_weights).context.square().sum().backward()
        for name, parameter in layer.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.isfinite().all(), name


@pytest.mark.parametrize(
    ("args", "options", "text"),
    [
        (
            (10, 3),
            {},
            "heads must divide the width: 10 cannot be cut into 3 equal parts; choose another "
            "number of heads or give head_width",
        ),
        ((8, 4), {"key_heads": 3}, "query heads must be a multiple of key heads, got 4 and 3"),
        ((8, 0), {}, "heads must be at least 1, got 0"),
        ((8, 4), {"key_heads": 0}, "key_heads must be at least 1, got 0"),
        ((0, 1), {}, "width must be at least 1, got 0"),
        ((8, 2), {"head_width": 0}, "head_width must be at least 1, got 0"),
        ((8, 2), {"key_width": 0}, "key_width must be at least 1, got 0"),
        ((8, 2), {"value_width": -1}, "value_width must be at least 1, got -1"),
    ],
)
def test_heads_that_do_not_fit(args: tuple[int, int], options: dict[str, Any], text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        MultiHeadAttention(*args, **options)


@pytest.mark.parametrize("dropout", [-0.1, 1.5, float("nan")])
def test_dropout_is_a_share(dropout: float) -> None:
    text = f"share of weights to drop, from 0 to 1, got {dropout}"
    with pytest.raises(RegardError, match=text):
        MultiHeadAttention(8, 2, dropout=dropout)


def test_input_of_the_wrong_width_or_dtype() -> None:
    layer, x = make(8, 2, key_width=7), randn(3, 5, 8)
    with pytest.raises(ShapeError, match=r"query must be \(..., positions, 8\), got \(3, 5, 7\)"):
        layer(randn(3, 5, 7))
    with pytest.raises(
        ShapeError, match=r"key must be \(..., positions, 7\), got \(3, 5, 8\); make"
    ):
        layer(x)
    with pytest.raises(ShapeError, match=r"value must be \(..., positions, 7\), got \(3, 5, 8\)"):
        layer(x, randn(3, 5, 7), x)
    with pytest.raises(ShapeError, match=r"\(..., positions, width\), got \(8,\)"):
        layer(randn(8))
    text = r"dtype of its weights, torch.float64, got torch.float32; move one with .to"
    with pytest.raises(RegardError, match=text):
        layer(x.float())


def test_rotary_positions_of_another_width() -> None:
    with pytest.raises(ShapeError, match=r"turn vectors of width 6, .* use Rotary\(head_width\)"):
        make(8, 2, rotary=Rotary(6))(randn(3, 5, 8))


def test_a_cache_goes_on_with_its_batch() -> None:
    layer, cache = make(8, 2), KeyValueCache()
    layer(randn(3, 1, 8), cache=cache)
    with pytest.raises(ShapeError, match=r"it began with, \(3, 2\), got \(4, 2\); use a new"):
        layer(randn(4, 1, 8), cache=cache)


@pytest.mark.parametrize("frozen", [(), ("key", "value")])
@pytest.mark.parametrize("rotary", [None, Rotary(4)])
def test_gradients_through_a_cache(frozen: tuple[str, ...], rotary: Rotary | None) -> None:
    """Those of one pass, also where only the queries learn and a cached key is a constant."""
    layer, x = make(8, 2, rotary=rotary), randn(3, 7, 8)
    for name in frozen:
        getattr(layer, name).requires_grad_(False)

    def gradients(y: Tensor) -> list[Tensor]:
        layer.zero_grad()
        y.square().sum().backward()
        return [p.grad.clone() for p in layer.parameters() if p.grad is not None]

    whole = gradients(layer(x, mask=causal()).context)
    cache = KeyValueCache()
    with torch.no_grad():
        start = layer(x[:, :0], mask=causal(), cache=cache).context
    steps = [layer(part, mask=causal(), cache=cache).context for part in x.split(1, 1)]
    parts = gradients(torch.cat([start, *steps], 1))
    assert len(parts) == len(whole) == 8 - 2 * len(frozen)
    for got, expected in zip(parts, whole, strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=1e-10)


def test_the_mean_over_heads_as_pytorch_gives_it() -> None:
    torch.manual_seed(0)
    ours = MultiHeadAttention(6, 3)
    theirs = torch.nn.MultiheadAttention(6, 3, batch_first=True)
    with torch.no_grad():
        parts = (ours.query, ours.key, ours.value)
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.in_proj_bias.zero_()
        theirs.out_proj.bias.zero_()
        for part in (*parts, ours.output):
            if part.bias is not None:
                part.bias.zero_()
    x = torch.randn(2, 5, 6)
    _, expected = theirs(x, x, x, need_weights=True, average_attn_weights=True)
    _, mean = ours(x, need_weights=True, average_attn_weights=True)
    _, apart = ours(x, need_weights=True)
    assert mean.shape == (2, 5, 5)
    torch.testing.assert_close(mean, expected)
    torch.testing.assert_close(mean, apart.mean(1))
    assert ours(x, average_attn_weights=True).weights is None


def test_arrays_that_are_no_tensors_are_named() -> None:
    x = np.eye(4, dtype=np.float32)
    said = r"query must be a torch.Tensor, got numpy.ndarray: torch.as_tensor\(query\) makes one"
    with pytest.raises(RegardError, match=said):
        regard.attend(x, x, x)  # type: ignore[arg-type]
    with pytest.raises(RegardError, match=r"value must be a torch\.Tensor, got list"):
        regard.attend(torch.eye(4), torch.eye(4), [[1.0]])  # type: ignore[arg-type]
    with pytest.raises(RegardError, match=r"query must be a torch\.Tensor, got numpy\.ndarray"):
        MultiHeadAttention(4, 2)(x)
