"""Observing nn.MultiheadAttention and nn.Transformer's layers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import regard


def seen(model: nn.Module, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    with torch.no_grad(), regard.observe(model) as observation:
        output = model(*args, **kwargs)
    return observation, output


def module(**options: Any) -> nn.MultiheadAttention:
    torch.manual_seed(0)
    made = nn.MultiheadAttention(12, 3, **options).eval()
    if made.bias_k is None and made.in_proj_bias is not None:
        nn.init.normal_(made.in_proj_bias)
    return made


def weights(made: nn.MultiheadAttention, *args: Tensor, **kwargs: Any) -> Tensor:
    with torch.no_grad():
        found: Tensor = made(*args, **kwargs, average_attn_weights=False)[1]
    return found


@pytest.mark.parametrize(
    "options",
    [
        {"batch_first": True},
        {"batch_first": False},
        {"batch_first": True, "bias": False},
        {"batch_first": True, "kdim": 7, "vdim": 5},
        {"batch_first": True, "add_bias_kv": True, "add_zero_attn": True},
    ],
    ids=["plain", "time first", "no bias", "other widths", "further keys"],
)
def test_weights_of_multihead_attention(options: dict[str, Any]) -> None:
    made = module(**options)
    q = torch.randn(2, 5, 12)
    k, v = torch.randn(2, 7, options.get("kdim", 12)), torch.randn(2, 7, options.get("vdim", 12))
    if not options["batch_first"]:
        q, k, v = q.transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1)
    expected = weights(made, q, k, v)
    before = made(q, k, v, need_weights=False)[0]
    observation, (output, _) = seen(made, q, k, v, need_weights=False)
    assert torch.equal(output, before)
    for batch in range(2):
        for head in range(3):
            got = observation.map(0, head, batch, "cross").dense()
            assert torch.allclose(got, expected[batch, head], atol=1e-6)


@pytest.mark.parametrize("additive", [False, True])
def test_masks_of_the_other_polarity(additive: bool) -> None:
    made = module(batch_first=True)
    x = torch.randn(2, 6, 12)
    padding = torch.arange(6) >= torch.tensor([6, 4])[:, None]  # True = may not
    future = torch.ones(6, 6, dtype=torch.bool).triu(1)
    if additive:
        padding, future = (
            torch.zeros(mask.shape).masked_fill(mask, -torch.inf) for mask in (padding, future)
        )
    expected = weights(made, x, x, x, key_padding_mask=padding, attn_mask=future)
    observation, _ = seen(made, x, x, x, key_padding_mask=padding, attn_mask=future)
    for batch, n in enumerate((6, 4)):
        got = observation.map(0, 1, batch)
        assert got.shape == (n, n)
        assert torch.allclose(got.dense(), expected[batch, 1, :n, :n], atol=1e-6)


def test_a_bias_and_a_mask_for_each_head() -> None:
    made = module(batch_first=True)
    x = torch.randn(2, 4, 12)
    bias = torch.randn(6, 4, 4)
    expected = weights(made, x, x, x, attn_mask=bias)
    observation, _ = seen(made, x, x, x, attn_mask=bias)
    assert torch.allclose(observation.map(0, 2, 1).dense(), expected[1, 2], atol=1e-6)
    unbatched = weights(made, x[0], x[0], x[0])
    observation, _ = seen(made, x[0], x[0], x[0])
    assert torch.allclose(observation[0, 2].dense(), unbatched[2], atol=1e-6)


@pytest.mark.parametrize("norm_first", [False, True])
def test_an_encoder_without_its_fast_path(norm_first: bool) -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(12, 4, 24, batch_first=True, norm_first=norm_first)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=not norm_first).eval()
    x, padding = torch.randn(2, 6, 12), torch.arange(6) >= torch.tensor([6, 4])[:, None]
    assert torch.backends.mha.get_fastpath_enabled()
    observation, output = seen(encoder, x, src_key_padding_mask=padding)
    assert torch.backends.mha.get_fastpath_enabled()
    assert [layer.name for layer in observation] == ["layers.0.self_attn", "layers.1.self_attn"]
    with torch.no_grad():
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            assert torch.equal(encoder(x, src_key_padding_mask=padding), output)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
        y = encoder.layers[0].norm1(x) if norm_first else x
    expected = weights(encoder.layers[0].self_attn, y, y, y, key_padding_mask=padding)
    for batch, n in enumerate((6, 4)):
        got = observation.map(0, 1, batch).dense()
        assert torch.allclose(got, expected[batch, 1, :n, :n], atol=1e-6)


def test_encoder_and_decoder() -> None:
    torch.manual_seed(0)
    model = nn.Transformer(12, 4, 2, 2, 24, batch_first=True).eval()
    source, target = torch.randn(1, 5, 12), torch.randn(1, 4, 12)
    causal = nn.Transformer.generate_square_subsequent_mask(4)
    observation, _ = seen(model, source, target, tgt_mask=causal, tgt_is_causal=True)
    assert repr(observation) == "Observation(2 encoder self, 2 decoder self, 2 decoder cross)"
    assert observation.map(1, 0, kind="encoder").shape == (5, 5)
    assert observation.map(1, 0, kind="cross").shape == (4, 5)
    decoder = observation.map(1, 0, kind="decoder").dense()
    assert torch.equal(decoder, decoder.tril())
    memory = model.encoder(source).detach()
    hidden: dict[str, torch.Tensor] = {}
    hook = model.decoder.layers[0].multihead_attn.register_forward_pre_hook(
        lambda _, args: hidden.update(query=args[0])
    )
    model.decoder(target, memory, tgt_mask=causal, tgt_is_causal=True)
    hook.remove()
    cross = model.decoder.layers[0].multihead_attn
    expected = weights(cross, hidden["query"], memory, memory)
    assert torch.allclose(observation.map(0, 2, kind="cross").dense(), expected[0, 2], atol=1e-5)


def test_the_fast_path_comes_back_after_an_exception() -> None:
    made = module(batch_first=True)
    with pytest.raises(AssertionError), regard.observe(made):
        made(torch.randn(1, 2, 5), torch.randn(1, 2, 5), torch.randn(1, 2, 5))
    assert torch.backends.mha.get_fastpath_enabled()
    assert not made._forward_hooks
    assert not made._forward_pre_hooks


def test_nested_observations_see_it_once_each() -> None:
    model, x = module(batch_first=True), torch.randn(2, 5, 12)
    with torch.no_grad(), regard.observe(model) as outer, regard.observe(model) as inner:
        model(x, x, x)
    assert (len(outer), len(inner)) == (1, 1)
    assert torch.equal(outer[0, 1].dense(), inner[0, 1].dense())
