"""The kernel's gradient of attention: against float64, finite differences, and itself."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

import regard
from regard.attention import causal, window
from regard.attention.kernel import gradient
from regard.attention.kernel.library import Kernel
from regard.attention.mask import Mask, as_mask
from regard.attention.rule import Rule


def gradients(
    kernel: Kernel, inputs: list[Tensor], mask: Mask | None, upstream: Tensor
) -> list[Tensor]:
    """The context and the gradients of query, key and value."""
    own = [tensor.detach().requires_grad_() for tensor in inputs]
    context = gradient.run(kernel, own[0], own[1], own[2], Rule(own[0].shape[-1] ** -0.5, mask))
    return [context, *torch.autograd.grad(context, own, upstream)]


def definition(inputs: list[Tensor], mask: Mask | None, upstream: Tensor) -> list[Tensor]:
    """The same from the four verbs in float64, by PyTorch's own gradients."""
    own = [tensor.detach().double().requires_grad_() for tensor in inputs]
    groups = own[0].shape[1] // own[1].shape[1]
    key, value = (tensor.repeat_interleave(groups, 1) for tensor in own[1:])
    scores = own[0] @ key.mT * own[0].shape[-1] ** -0.5
    if mask is not None:
        allowed = mask.dense(*scores.shape[-2:])
        scores = scores.masked_fill(~allowed, -1e300)  # no NaN in the gradient of an empty row
        weights = scores.softmax(-1) * allowed
    else:
        weights = scores.softmax(-1)
    context = weights @ value
    return [context, *torch.autograd.grad(context, own, upstream.double())]


@settings(max_examples=20)
@given(
    sizes=st.sampled_from(
        [(2, 3, 1, 5, 7, 11, 13), (1, 2, 3, 53, 53, 17, 5), (3, 1, 2, 1, 29, 32, 8)]
    ),
    kind=st.sampled_from(["all", "causal", "window", "keys", "pairs", "nothing"]),
    seed=st.integers(0, 99),
)
def test_every_variant_is_the_definition(
    kernels: list[Kernel], sizes: tuple[int, ...], kind: str, seed: int
) -> None:
    batch, key_heads, groups, queries, keys, width, wide = sizes
    torch.manual_seed(seed)
    query = torch.randn(batch, queries, key_heads * groups, width).transpose(1, 2)  # any strides
    inputs = [query, torch.randn(batch, key_heads, keys, width)]
    inputs.append(torch.randn(batch, key_heads, wide, keys).mT)
    upstream = torch.randn(batch, key_heads * groups, queries, wide)
    mask = {
        "all": None,
        "causal": causal(),
        "window": window(2),
        "keys": as_mask(torch.rand(batch, 1, 1, keys) < 0.7),
        "pairs": as_mask(torch.rand(queries, keys) < 0.4),
        "nothing": as_mask(torch.zeros(queries, keys, dtype=torch.bool)),
    }[kind]
    expected = definition(inputs, mask, upstream)
    for kernel in kernels:
        for ours, theirs in zip(gradients(kernel, inputs, mask, upstream), expected, strict=True):
            torch.testing.assert_close(ours.double(), theirs, atol=3e-6, rtol=3e-6)


def test_a_query_that_sees_nothing_gets_and_gives_nothing(kernels: list[Kernel]) -> None:
    inputs = [torch.randn(1, 1, 3, 2) for _ in range(3)]
    allowed = torch.tensor([[True, False, False], [False, False, False], [True, True, False]])
    for kernel in kernels:
        context, d_query, d_key, d_value = gradients(
            kernel, inputs, as_mask(allowed), torch.ones(1, 1, 3, 2)
        )
        assert context[0, 0, 1].tolist() == d_query[0, 0, 1].tolist() == [0, 0]
        assert d_key[0, 0, 2].tolist() == d_value[0, 0, 2].tolist() == [0, 0]
        # Query 0 gives all to value 0; query 2 shares 1 between values 0 and 1.
        assert d_value[0, 0, :2].sum(0).tolist() == pytest.approx([2, 2])


def test_by_hand(kernels: list[Kernel]) -> None:
    """One query between two keys with scores 0 and log 3: weights 1/4 and 3/4."""
    inputs = [
        torch.tensor([[[[1.0]]]]),
        torch.tensor([[[[0.0], [math.log(3)]]]]),
        torch.tensor([[[[8.0], [16.0]]]]),
    ]
    for kernel in kernels:
        context, d_query, d_key, d_value = gradients(kernel, inputs, None, torch.ones(1, 1, 1, 1))
        assert context.item() == pytest.approx(14)
        assert d_value.flatten().tolist() == pytest.approx([0.25, 0.75])
        # d_s = a (v − 14): −1.5 and 1.5
        assert d_key.flatten().tolist() == pytest.approx([-1.5, 1.5], abs=1e-5)
        assert d_query.item() == pytest.approx(1.5 * math.log(3), abs=1e-5)


@pytest.mark.filterwarnings("ignore:Input #")  # of float32, and compared as such
def test_finite_differences(kernels: list[Kernel]) -> None:
    inputs = [torch.randn(1, 2, n, 3, requires_grad=True) for n in (5, 7, 7)]
    for kernel in kernels:
        torch.autograd.gradcheck(
            lambda q, k, v, it=kernel: gradient.run(it, q, k, v, Rule(0.5, causal())),
            inputs,
            eps=1e-2,
            atol=2e-3,
            rtol=2e-3,
            nondet_tol=0.0,
        )


def test_threads_change_no_bit(kernels: list[Kernel]) -> None:
    inputs = [torch.randn(7, 4, 61, 16) for _ in range(3)]
    upstream = torch.randn(7, 4, 61, 16)
    for kernel in kernels:
        found = []
        for threads in (1, 2, 2):
            torch.set_num_threads(threads)
            try:
                found.append(gradients(kernel, inputs, causal(), upstream))
            finally:
                torch.set_num_threads(1)
        for other in found[1:]:
            assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_attend_takes_it_where_it_is_faster(kernels: list[Kernel]) -> None:
    def node(tokens: int, batch: int = 16, dtype: torch.dtype = torch.float32) -> str:
        inputs = [torch.randn(batch, 4, tokens, 8, dtype=dtype, requires_grad=True) for _ in "qkv"]
        return type(regard.attend(inputs[0], inputs[1], inputs[2]).context.grad_fn).__name__

    assert node(16) == "_AttentionBackward"
    assert node(15) != "_AttentionBackward"
    assert node(16, dtype=torch.float64) != "_AttentionBackward"
    assert node(gradient.MOST_TOKENS + 1, batch=1) != "_AttentionBackward"


def test_a_mask_changed_between_forward_and_back_is_an_error(kernels: list[Kernel]) -> None:
    query, key, value = (torch.randn(1, 1, 3, 2, requires_grad=True) for _ in range(3))
    allowed = torch.ones(3, 3, dtype=torch.bool)
    context = gradient.run(kernels[0], query, key, value, Rule(1.0, as_mask(allowed)))
    allowed[0, 0] = False
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        context.sum().backward()
