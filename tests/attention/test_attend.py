"""attend: the same numbers as PyTorch and as NumPy, on the fast path and on the explained one."""

from __future__ import annotations

import functools
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from torch import Tensor

import regard
from regard.attention import (
    Additive,
    Bilinear,
    Mask,
    attend,
    causal,
    dot,
    mix,
    scaled_dot,
    weigh,
    window,
)
from regard.attention.mask import as_mask
from regard.attention.score import Score
from regard.errors import MaskError, RegardError, ShapeError
from tests.attention.cases import Case, cases, numpy_attend


def close(got: Tensor, expected: Tensor, tolerance: float) -> None:
    torch.testing.assert_close(got.cpu(), expected.cpu(), rtol=0, atol=tolerance)


def fast_and_explained(case: Case) -> tuple[Tensor, Tensor, Tensor]:
    """The contexts of the three ways to the same result, and the weights."""
    given: dict[str, Any] = {"mask": case.mask, "groups": case.groups}
    fast = attend(case.query, case.key, case.value, **given)
    explained = attend(case.query, case.key, case.value, need_weights=True, **given)
    with regard.record():
        recorded = attend(case.query, case.key, case.value, **given)
    assert fast.weights is None
    assert explained.weights is not None
    assert torch.equal(explained.context, recorded.context)
    return fast.context, explained.context, explained.weights


@settings(max_examples=300)
@given(case=cases())
def test_agrees_with_pytorch(case: Case) -> None:
    fast, explained, _ = fast_and_explained(case)
    expected = F.scaled_dot_product_attention(*case.spread(), attn_mask=case.allowed)
    close(fast, expected, case.tolerance)
    close(explained, expected, case.tolerance)


@settings(max_examples=200)
@given(case=cases())
def test_agrees_with_the_definition(case: Case) -> None:
    fast, explained, weights = fast_and_explained(case)
    context, shares = numpy_attend(*case.spread(), case.allowed)
    close(fast.double(), torch.from_numpy(context), case.tolerance)
    close(explained.double(), torch.from_numpy(context), case.tolerance)
    close(weights.double(), torch.from_numpy(shares).expand(weights.shape), case.tolerance)


@settings(max_examples=100)
@given(case=cases())
def test_a_row_sums_to_one_or_is_empty(case: Case) -> None:
    fast, _, weights = fast_and_explained(case)
    seen = torch.ones(weights.shape, dtype=torch.bool)
    if case.allowed is not None:
        seen = case.allowed.expand(weights.shape)
    empty = ~seen.any(-1)
    close(weights.sum(-1), (~empty).to(weights.dtype), 5 * case.tolerance)
    assert (weights[~seen] == 0).all()
    assert (fast[empty.expand(fast.shape[:-1])] == 0).all()
    assert fast.isfinite().all()


@settings(max_examples=25)
@given(case=cases(dtype=torch.float64))
def test_gradients(case: Case) -> None:
    inputs = [t.requires_grad_() for t in (case.query, case.key, case.value)]

    def fast(*qkv: Tensor) -> Tensor:
        return attend(*qkv, mask=case.mask, groups=case.groups).context

    def explained(*qkv: Tensor) -> tuple[Tensor, ...]:
        context, weights = attend(*qkv, mask=case.mask, groups=case.groups, need_weights=True)
        assert weights is not None
        return context, weights

    assert torch.autograd.gradcheck(fast, inputs, fast_mode=True)
    assert torch.autograd.gradcheck(explained, inputs, fast_mode=True)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("tokens", [5, 67])  # the kernel has its own code for whole blocks
def test_a_fully_masked_row_gives_zeros_and_no_nan(tokens: int, need_weights: bool) -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, tokens, 8, requires_grad=True) for _ in range(3))
    mask = torch.rand(tokens, tokens) < 0.5
    mask[2] = False
    context, weights = attend(q, k, v, mask=mask, need_weights=need_weights)
    context.square().sum().backward()
    assert (context[..., 2, :] == 0).all()
    assert weights is None or (weights[..., 2, :] == 0).all()
    for tensor in (q, k, v):
        assert tensor.grad is not None
        assert tensor.grad.isfinite().all()
    assert q.grad is not None
    assert (q.grad[..., 2, :] == 0).all()


BAD = pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
PATHS = pytest.mark.parametrize("path", ["fused", "weights", "recorded", "gradients", "half"])


def by(path: str, q: Tensor, k: Tensor, v: Tensor, **given: Any) -> Tensor:
    """The context by one of the ways to it."""
    if path == "recorded":
        with regard.record() as trace:
            context = attend(q, k, v, **given).context
        noted = torch.from_numpy(trace["weighted_values"].value.sum(-2))
        torch.testing.assert_close(noted, context, rtol=1e-5, atol=1e-5, equal_nan=True)
        return context
    if path == "half":
        return attend(q.half(), k.half(), v.half(), **given).context
    if path == "gradients":
        q = q.clone().requires_grad_()
    context = attend(q, k, v, need_weights=path == "weights", **given).context
    assert context.requires_grad == (path == "gradients")
    return context.detach()


@BAD
@PATHS
@pytest.mark.parametrize("what", ["key", "value"])
@pytest.mark.parametrize(("queries", "keys", "groups"), [(7, 7, 1), (3, 13, 2), (53, 300, 1)])
def test_what_is_masked_reaches_nothing(
    bad: float, path: str, what: str, queries: int, keys: int, groups: int
) -> None:
    """A masked key or value may be no number at all: padding, a causal rule, a window, any mask."""
    torch.manual_seed(0)
    q = torch.randn(2, 2 * groups, queries, 8)
    k, v = torch.randn(2, 2, keys, 8), torch.randn(2, 2, keys, 5)
    spoilt = {"key": k.clone(), "value": v.clone()}
    spoilt[what][..., keys - 2, 3] = bad
    hidden = torch.arange(keys) != keys - 2
    some = (torch.rand(queries, keys) < 0.5) | hidden
    some[0, keys - 2] = False
    for mask in (hidden, causal(), window(2, 0), Mask(causal=True, allowed=hidden), some):
        rule = as_mask(mask)
        assert rule is not None
        allowed = rule.dense(queries, keys)
        seen = allowed.expand(queries, keys)[:, keys - 2]
        expected = by(path, q, k, v, mask=mask, groups=groups)
        got = by(path, q, spoilt["key"], spoilt["value"], mask=mask, groups=groups)
        close(got[..., ~seen, :], expected[..., ~seen, :], 2e-3 if path == "half" else 1e-6)
        if what == "value":
            assert not got[..., seen, 3].isfinite().any()
            close(got[..., [0, 1, 2, 4]], expected[..., [0, 1, 2, 4]], 2e-3)


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_masked_value_reaches_no_gradient(need_weights: bool) -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 7, 5, dtype=torch.float64) for _ in range(3))
    hidden = torch.arange(7) != 4
    gradients = []
    for number in (0.0, math.nan):
        v[..., 4, 2] = number
        inputs = [t.clone().requires_grad_() for t in (q, k, v)]
        context = attend(*inputs, mask=hidden, need_weights=need_weights).context
        gradients.append(torch.autograd.grad(context.square().sum(), inputs))
    for plain, spoilt in zip(*gradients, strict=True):
        close(spoilt, plain, 1e-12)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("keys", [3, 50, 300])
@pytest.mark.parametrize("size", [3e-38, 1e-30, 3e37, 3e38])
@pytest.mark.parametrize("lift", [-40.0, 0.0, 40.0])
def test_values_of_any_size(need_weights: bool, keys: int, size: float, lift: float) -> None:
    """A mean of values is a float if they are; also where every score is low or high."""
    torch.manual_seed(0)
    q, k = torch.randn(2, 11, 16), torch.randn(2, keys, 16)
    q[..., 0], k[..., 0] = 4.0, lift  # adds lift to each scaled score
    v = torch.rand(2, keys, 5) * 2 - 1
    context = attend(q, k, v * size, need_weights=need_weights).context
    expected = torch.from_numpy(numpy_attend(q, k, v, None)[0])
    close(context.double() / size, expected, 2e-5)


@pytest.mark.parametrize("need_weights", [False, True])
def test_vectors_of_no_width(need_weights: bool) -> None:
    """Their products are all 0: each query takes the mean of what it may see."""
    torch.manual_seed(0)
    q, k, v = torch.ones(2, 3, 0), torch.ones(2, 3, 0), torch.randn(2, 3, 5)
    context = attend(q, k, v, mask=causal(), need_weights=need_weights).context
    close(context, v.cumsum(-2) / torch.tensor([[1.0], [2.0], [3.0]]), 1e-6)
    assert attend(v, v, k, need_weights=need_weights).context.shape == (2, 3, 0)


def test_no_keys_at_all() -> None:
    q, nothing = torch.ones(2, 3, 5), torch.ones(2, 0, 5)
    assert torch.equal(attend(q, nothing, nothing).context, torch.zeros(2, 3, 5))
    assert torch.equal(attend(q, nothing, nothing, need_weights=True).context, torch.zeros(2, 3, 5))
    assert attend(nothing, q, q).context.shape == (2, 0, 5)


def test_strictly_before_is_not_causal() -> None:
    """A rule that the kernel's causal flag does not know: not even oneself."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 5, 4)
    before = Mask(causal=True, after=-1)
    context = attend(q, k, v, mask=before).context
    assert (context[..., 0, :] == 0).all()
    close(context, attend(q, k, v, mask=before, need_weights=True).context, 1e-6)


@pytest.mark.parametrize(
    ("score", "scale"),
    [(scaled_dot, None), (dot, 1.0), (functools.partial(scaled_dot, scale=0.3), 0.3)],
)
@pytest.mark.parametrize("need_weights", [False, True])
def test_scores_that_the_kernel_knows(score: Score, scale: float, need_weights: bool) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 5, 3, dtype=torch.float64)
    got = attend(q, k, v, score=score, need_weights=need_weights).context
    close(got, torch.from_numpy(numpy_attend(q, k, v, None, scale)[0]), 1e-12)


def test_scores_of_different_widths() -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 5, 3), torch.randn(2, 7, 11), torch.randn(2, 7, 13)
    for score in (Bilinear(3, 11), Additive(3, 11, 17)):
        context, weights = attend(q, k, v, score=score)
        assert weights is not None, "only the explained path can compute it"
        assert context.shape == (2, 5, 13)
        close(context, score(q, k).softmax(-1) @ v, 1e-6)


def test_dropout_drops_weights_and_keeps_their_mean() -> None:
    torch.manual_seed(0)
    q, k = torch.randn(2, 400, 8)
    v = torch.ones(400, 1)
    for need_weights in (False, True):
        context, weights = attend(q, k, v, dropout=0.5, need_weights=need_weights)
        assert context.std() > 0.01, "nothing was dropped"
        assert context.mean().item() == pytest.approx(1, abs=0.02)
        assert weights is None or torch.allclose(weights.sum(-1), torch.ones(400))
        assert torch.allclose(attend(q, k, v, need_weights=need_weights).context, v)


def test_weigh_by_hand() -> None:
    scores = torch.tensor([[0.0, math.log(3)], [5.0, 5.0]])
    close(weigh(scores), torch.tensor([[0.25, 0.75], [0.5, 0.5]]), 1e-6)
    allowed = torch.tensor([[True, False], [False, False]])
    assert torch.equal(weigh(scores, allowed), torch.tensor([[1.0, 0.0], [0.0, 0.0]]))


def test_mix_by_hand() -> None:
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    value = torch.tensor([[4.0, 0.0, 8.0], [0.0, 4.0, 8.0]])
    assert torch.equal(mix(weights, value), torch.tensor([[1.0, 3.0, 8.0], [4.0, 0.0, 8.0]]))


SHAPES = [
    (
        [(5,), (5,), (5,)],
        {},
        r"query, key and value need at least two axes \(positions, width\), got \(5,\)",
    ),
    (
        [(3, 5), (4, 7), (4, 7)],
        {},
        "a dot product needs queries and keys of one width, got 5 and 7; use the bilinear or the "
        "additive score for different widths",
    ),
    ([(3, 5), (4, 5), (2, 5)], {}, "each key has one value: got 4 keys and 2 values"),
    (
        [(2, 3, 5), (7, 4, 5), (7, 4, 5)],
        {},
        r"the leading axes of query, key and value must broadcast, got \(2,\), \(7,\), \(7,\)",
    ),
    (
        [(6, 3, 5), (2, 4, 5), (2, 4, 5)],
        {"groups": 2},
        r"with groups=2 there must be 2 query heads \(axis -3\) to each key/value head, "
        r"got queries \(6, 3, 5\), keys \(2, 4, 5\)",
    ),
    (
        [(3, 4, 3, 5), (2, 2, 4, 5), (2, 2, 4, 5)],
        {"groups": 2},
        r"the leading axes of query, key and value must broadcast, got \(3,\), \(2,\), \(2,\)",
    ),
]


@pytest.mark.parametrize(("shapes", "options", "text"), SHAPES)
@pytest.mark.parametrize("need_weights", [False, True])
def test_shapes_that_do_not_fit(
    shapes: list[tuple[int, ...]], options: dict[str, Any], text: str, need_weights: bool
) -> None:
    q, k, v = (torch.ones(shape) for shape in shapes)
    with pytest.raises(ShapeError, match=text):
        attend(q, k, v, need_weights=need_weights, **options)


MASKS = [
    (torch.ones(3, 4), r"a mask must be boolean, True = may attend, got torch.float32; for a 0/1"),
    (torch.ones(3, 4).int(), r"got torch.int32; for a 0/1 mask write mask.bool\(\)"),
    ([[True]], "a mask must be boolean, True = may attend, got list"),
    (
        torch.ones(4, 3).bool(),
        r"a mask must be broadcastable to \(..., queries, keys\) = \(..., 3, 4\), got \(4, 3\)",
    ),
    (
        torch.ones(7, 3, 4).bool(),
        r"a mask's leading axes must broadcast to those of the queries \(2,\), got \(7,\) in "
        r"\(7, 3, 4\)",
    ),
    (torch.ones(1, 2, 3, 4).bool(), r"queries \(2,\), got \(1, 2\) in \(1, 2, 3, 4\)"),
]


@pytest.mark.parametrize(("mask", "text"), MASKS)
@pytest.mark.parametrize("need_weights", [False, True])
def test_masks_that_do_not_fit(mask: Any, text: str, need_weights: bool) -> None:
    q, k = torch.ones(2, 3, 5), torch.ones(2, 4, 5)
    with pytest.raises(MaskError, match=text):
        attend(q, k, k, mask=mask, need_weights=need_weights)


def test_a_mask_over_grouped_heads_is_checked_against_the_query_heads() -> None:
    q, k = torch.ones(2, 6, 3, 5), torch.ones(2, 2, 4, 5)
    assert attend(q, k, k, groups=3, mask=torch.ones(6, 3, 4).bool()).context.shape == q.shape
    with pytest.raises(MaskError, match=r"queries \(2, 6\), got \(2,\)"):
        attend(q, k, k, groups=3, mask=torch.ones(2, 3, 4).bool())


@pytest.mark.parametrize("need_weights", [False, True])
def test_mixed_dtypes_and_no_share(need_weights: bool) -> None:
    q, k = torch.ones(3, 4), torch.ones(3, 4, dtype=torch.float64)
    text = "one dtype, got torch.float32, torch.float64, torch.float64; move them with"
    with pytest.raises(RegardError, match=text):
        attend(q, k, k, need_weights=need_weights)
    with pytest.raises(RegardError, match="one device, got cpu, meta, cpu"):
        attend(q, q.to("meta"), q, need_weights=need_weights)
    for dropout in (-0.1, 1.5):
        with pytest.raises(RegardError, match=f"from 0 to 1, got {dropout}"):
            attend(q, q, q, dropout=dropout, need_weights=need_weights)


def test_inside_autocast_the_weights_are_in_float32() -> None:
    """As the fused path: rounded weights would not sum to 1."""
    q, k, v = (
        torch.randn(2, 3, n, 5, generator=torch.Generator().manual_seed(n)) for n in (7, 11, 11)
    )
    expected = attend(q, k, v, need_weights=True)
    with torch.autocast("cpu", torch.bfloat16):
        got = attend(q, k, v, need_weights=True)
    assert got.weights is not None
    assert expected.weights is not None
    assert got.weights.dtype == torch.float32
    torch.testing.assert_close(got.weights, expected.weights, rtol=0, atol=1e-6)
    torch.testing.assert_close(got.context, expected.context, rtol=0, atol=1e-6)
