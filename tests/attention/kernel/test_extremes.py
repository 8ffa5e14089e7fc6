"""Scores and values at the edges of what numbers can be: every variant of the kernel."""

from __future__ import annotations

import math
import sys

import pytest
import torch
from torch import Tensor

from regard.attention import Mask, causal, window
from regard.attention.kernel.library import Kernel
from regard.attention.kernel.run import run
from regard.attention.rule import Rule
from regard.attention.statistics import in_blocks
from regard.attention.wanted import Wanted
from tests.attention.kernel.definition import ALL, Case, close, weights_of


@pytest.mark.parametrize("keys", [7, 64, 300])
@pytest.mark.parametrize("what", ["tied", "zeros", "one huge", "far", "denormal", "blocked"])
def test_adversarial_scores(kernels: list[Kernel], what: str, keys: int) -> None:
    """The same weights as by PyTorch's path, where exponentials could overflow or vanish."""
    torch.manual_seed(0)
    query, key = torch.randn(2, 11, 16), torch.randn(2, keys, 16)
    bias = None
    if what == "tied":
        key[:] = key[:, :1]
    elif what == "zeros":
        query.zero_()
    elif what == "one huge":
        key[:, keys // 2] *= 1e4
    elif what == "far":
        query, key = query.sign() * 50, key.sign() * 50  # scores of ±1e4
    elif what == "denormal":
        query, key = query * 1e-20, key * 1e-20
    else:
        bias = torch.zeros(1, 1, keys).masked_fill(torch.rand(keys) < 0.6, -math.inf)
    rule = Rule(0.25, None, bias)
    wanted = Wanted(3, entropy=True, received=True, cells=5)
    theirs = in_blocks(query, key, rule, wanted)
    # lse − sum a s of scores of 1e4 has 3 digits in float32; by the definition it has all.
    scores = query.double() @ key.double().mT * 0.25 + (0 if bias is None else bias)
    entropy = torch.special.entr(scores.softmax(-1)).sum(-1)
    for kernel in kernels:
        _, ours = run(kernel, query[None], key[None], None, rule, wanted)
        assert ours is not None
        close(ours.entropy, entropy[None], 2e-5)
        for name in ("lse", "top_weights", "received", "pooled_max", "pooled_mean"):
            got, expected = getattr(ours, name)[0], getattr(theirs, name)
            torch.testing.assert_close(got, expected, atol=2e-5, rtol=2e-5)


def test_a_row_whose_first_keys_come_late_and_score_low(kernels: list[Kernel]) -> None:
    """Its panel's other rows have met keys before it has, with scores that need no reference."""
    torch.manual_seed(0)
    query, key, value = (
        torch.ones(1, 2, 5, 4),
        torch.randn(1, 1, 1024, 4),
        torch.randn(1, 1, 1024, 4),
    )
    key[:, :, 512:] = -250
    allowed = torch.zeros(1, 2, 1, 1024, dtype=torch.bool)
    allowed[0, 0, 0, :512] = allowed[0, 1, 0, 512:] = True
    two = Case(query, key, value, Rule(0.5, Mask(allowed=allowed)))
    some = torch.zeros(700, dtype=torch.bool)
    some[:10] = some[600:] = True
    key = torch.randn(1, 1, 700, 4)
    key[:, :, 600:] = -250
    mask = Mask(before=595, causal=True, allowed=some)
    one = Case(torch.ones(1, 1, 700, 4), key, torch.randn(1, 1, 700, 4), Rule(0.5, mask))
    for case in (two, one):
        scores, weights = weights_of(case)
        groups = case.query.shape[1] // case.key.shape[1]
        expected = weights @ case.value.double().repeat_interleave(groups, 1)
        for kernel in kernels:
            context, found = run(kernel, *case, Wanted(top=3))
            assert found is not None
            close(context, expected, 2e-5)
            close(found.lse, scores.logsumexp(-1), 1e-6)


def test_a_reach_beyond_all_numbers(kernels: list[Kernel]) -> None:
    query = torch.randn(1, 2, 11, 8)
    for kernel in kernels:
        for reach in (sys.maxsize, 2**80):
            far, _ = run(kernel, query, query, query, Rule(0.5, window(3, reach)))
            expected, _ = run(kernel, query, query, query, Rule(0.5, window(3, 11)))
            assert far is not None
            assert expected is not None
            assert torch.equal(far, expected)


def test_of_equal_weights_the_first_keys_are_the_top(kernels: list[Kernel]) -> None:
    zeros = torch.zeros(1, 1, 3, 8), torch.zeros(1, 1, 1000, 8)
    for kernel in kernels:
        _, found = run(kernel, *zeros, None, Rule(1.0, window(500)), Wanted(top=4))
        assert found is not None
        assert found.top_keys is not None
        assert found.top_keys[0, 0].tolist() == [
            [497, 498, 499, 500],
            [498, 499, 500, 501],
            [499, 500, 501, 502],
        ]


@pytest.mark.parametrize("top", [2, 3, 9])  # the search is another from 9 on
def test_a_larger_weight_moves_equal_ones_in_their_order(kernels: list[Kernel], top: int) -> None:
    key = torch.zeros(1, 1, 300, 1)
    key[0, 0, [100, 200]] = torch.tensor([[2.0], [1.0]])
    expected = [100, 200, *range(top - 2)]
    for kernel in kernels:
        _, found = run(kernel, torch.ones(1, 1, 7, 1), key, None, Rule(1.0), Wanted(top=top))
        assert found is not None
        assert found.top_keys is not None
        assert found.top_keys[0, 0].tolist() == [expected] * 7


def marked() -> Tensor:
    """A NaN whose last bits are not 0, as a file may hold it."""
    return torch.tensor([0x7FC00003], dtype=torch.int32).view(torch.float32)[0]


@pytest.mark.parametrize("bad", [torch.tensor(math.nan), torch.tensor(math.inf), marked()])
def test_what_is_not_a_number_stays_in_its_rows(kernels: list[Kernel], bad: Tensor) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 1, 40, 8)
    spoilt = q.clone()
    spoilt[..., 5, 0] = bad
    for kernel in kernels:
        plain, _ = run(kernel, q, k, v, Rule(1.0, causal()))
        context, found = run(kernel, spoilt, k, v, Rule(1.0, causal()), ALL)
        assert found is not None
        assert context is not None
        assert plain is not None
        assert context[0, 0, 5].isnan().all()
        assert found.top_weights is not None
        assert found.top_weights[0, 0, 5].isnan().all()
        assert found.pooled_max is not None
        assert found.pooled_max[0, 0, 1].isnan().any()
        others = [i for i in range(40) if i != 5]
        assert torch.equal(context[..., others, :], plain[..., others, :])


@pytest.mark.parametrize("bad", [torch.tensor(math.nan), marked()])
@pytest.mark.parametrize("tokens", [7, 40, 600])  # within a tile, a block, several chunks
def test_a_key_that_is_not_a_number_is_in_every_row(
    kernels: list[Kernel], bad: Tensor, tokens: int
) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 1, tokens, 8)
    k[..., 5, 3] = bad
    for kernel in kernels:
        context, found = run(kernel, q, k, v, Rule(1.0), ALL)
        assert context is not None
        assert found is not None
        assert found.received is not None
        assert context.isnan().all()
        assert found.lse.isnan().all()
        assert found.received.isnan().all()


def test_keys_out_of_sight_change_no_bit(kernels: list[Kernel]) -> None:
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 90, 16)
    other = k.clone()
    other[..., 50:, :] *= 1e6
    for kernel in kernels:
        pair = [run(kernel, q, keys, v, Rule(0.25, causal()))[0] for keys in (k, other)]
        assert pair[0] is not None
        assert pair[1] is not None
        assert torch.equal(pair[0][..., :50, :], pair[1][..., :50, :])


@pytest.mark.parametrize("width", [5, 16])  # packed, and read in place
def test_rows_that_are_mended_change_no_others(kernels: list[Kernel], width: int) -> None:
    """Values of 3e38 and NaN in the sight of some queries, and every statistic as before."""
    torch.manual_seed(0)
    q, k, v = torch.randn(1, 2, 300, 16), torch.randn(1, 2, 300, 16), torch.rand(1, 2, 300, width)
    huge = v.clone()
    huge[..., 270:280, :], huge[..., 280:, :] = 3e38, math.nan
    for kernel in kernels:
        (plain, before), (context, after) = (
            run(kernel, q, k, values, Rule(0.25, causal()), ALL) for values in (v, huge)
        )
        assert plain is not None
        assert context is not None
        assert before is not None
        assert after is not None
        assert torch.equal(context[..., :270, :], plain[..., :270, :])
        for one, other in zip(after, before, strict=True):
            assert one is not None
            assert other is not None
            assert torch.equal(one, other)
        weights = (q.double() @ k.double().mT / 4).masked_fill(~causal().dense(300), -math.inf)
        expected = weights.softmax(-1)[..., 270:280, :280] @ huge[..., :280, :].double()
        torch.testing.assert_close(context[..., 270:280, :].double(), expected, rtol=1e-5, atol=0)
        assert context[..., 280:, :].isnan().all()
