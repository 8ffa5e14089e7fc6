"""The kernel against float64 by the definition, and against the PyTorch path: every variant."""

from __future__ import annotations

import math
import multiprocessing
import sys
import threading
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Mask, attend, causal, padding, window
from regard.attention.kernel import library
from regard.attention.kernel.library import Kernel
from regard.attention.kernel.run import run, usable
from regard.attention.rule import Rule, softmax
from regard.attention.statistics import in_blocks, statistics
from regard.attention.wanted import Statistics, Wanted
from tests.attention.kernel.conftest import PLAIN
from tests.attention.rulecases import CASES
from tests.attention.test_statistics import pooled

ALL = Wanted(top=3, entropy=True, received=True, cells=17)


class Case(NamedTuple):
    query: Tensor
    key: Tensor
    value: Tensor
    rule: Rule


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Every option, over strides, grouped heads, widths and lengths of any remainder."""
    batch, key_heads, groups = (draw(st.integers(1, n)) for n in (2, 2, 3))
    queries = draw(st.sampled_from([1, 2, 4, 7, 13, 29, 53]))
    keys = draw(st.sampled_from([1, 3, 17, 31, 67, 131, 293, 521]))
    width, value_width = (draw(st.sampled_from([1, 5, 8, 16, 24, 40, 64])) for _ in range(2))
    size = draw(st.sampled_from([1.0, 1.0, 3.0, 30.0]))
    dtype = draw(st.sampled_from([torch.float32, torch.float32, torch.float16, torch.bfloat16]))
    torch.manual_seed(draw(st.integers(0, 999)))
    query = torch.randn(batch, queries, key_heads * groups, width).transpose(1, 2) * size
    key = torch.randn(batch, key_heads, keys, 2 * width)[..., :: draw(st.sampled_from([1, 2]))]
    value = torch.randn(batch, key_heads, keys, value_width)
    masks = [
        None,
        causal(),
        window(3),
        window(40, 9) & causal(),
        Mask(causal=True, after=-1),
        Mask(allowed=padding(torch.randint(0, keys + 1, (batch,)), keys).allowed[:, None]),  # type: ignore[index]
        Mask(allowed=torch.rand(queries, keys) < 0.5),
        Mask(causal=True, allowed=torch.rand(batch, key_heads * groups, 1, keys) < 0.7),
    ]
    biases = [
        None,
        None,
        torch.randn(queries, keys),
        torch.randn(1, key_heads * groups, 1, keys).where(torch.rand(keys) < 0.8, -math.inf),
        torch.randn(key_heads * groups, queries, 1),
    ]
    rule = Rule(
        draw(st.sampled_from([width**-0.5, 1.0, -0.3])),
        draw(st.sampled_from(masks)),
        draw(st.sampled_from(biases)),
        draw(st.sampled_from([None, None, 5.0])),
    )
    return Case(query.to(dtype), key[..., :width].to(dtype), value.to(dtype), rule)


def weights_of(case: Case) -> tuple[Tensor, Tensor]:
    """Scores and weights (batch, heads, queries, keys) straight from their definition."""
    rule, groups = case.rule, case.query.shape[1] // case.key.shape[1]
    key = case.key.double().repeat_interleave(groups, 1)
    scores = case.query.double() @ key.mT * rule.scale
    if rule.softcap:
        scores = rule.softcap * (scores / rule.softcap).tanh()
    if rule.bias is not None:
        scores = scores + rule.bias
    if rule.mask is not None:
        allowed = rule.mask.dense(*scores.shape[-2:])
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores, scores.softmax(-1).nan_to_num(0)


def close(ours: Tensor | None, theirs: Tensor, most: float) -> None:
    assert ours is not None
    torch.testing.assert_close(ours.double(), theirs.double(), atol=most, rtol=most)


@settings(max_examples=120)
@given(
    cases(),
    st.sampled_from([0, 1, 3, 8, 13, 32]),
    st.sampled_from([0, 1, 2, 3, 5, 7, 9, 33, 64]),
    st.integers(1, 2),
)
def test_every_variant_is_the_definition(
    kernels: list[Kernel], case: Case, top: int, cells: int, threads: int
) -> None:
    scores, weights = weights_of(case)
    groups = case.query.shape[1] // case.key.shape[1]
    expected = weights @ case.value.double().repeat_interleave(groups, 1)
    whole = scores.where(scores > -math.inf, 0).abs().max()
    if case.rule.softcap:  # what is off before the cap is off behind it
        bare = case.query.double() @ case.key.double().repeat_interleave(groups, 1).mT
        whole = whole.maximum((bare * case.rule.scale).abs().max())
    most = 1e-6 * (1 + float(whole)) + 2e-6  # a score of size s is off by about s · 6e-8
    wanted = Wanted(top, entropy=True, received=True, cells=cells)
    torch.set_num_threads(threads)
    try:
        for kernel in kernels:
            context, found = run(kernel, case.query, case.key, case.value, case.rule, wanted)
            half = case.query.dtype != torch.float32
            close(context, expected, 1e-2 if half else 4 * most)
            check(found, scores, weights, wanted, most)
    finally:
        torch.set_num_threads(1)


def check(
    found: Statistics | None, scores: Tensor, weights: Tensor, wanted: Wanted, most: float
) -> None:
    assert found is not None
    close(found.lse, scores.logsumexp(-1), most)
    close(found.entropy, torch.special.entr(weights).sum(-1), 20 * most)
    close(found.received, weights.sum(-2), 20 * most)
    if wanted.top:
        values = weights.topk(min(wanted.top, weights.shape[-1])).values
        close(found.top_weights, values, most)
        assert found.top_keys is not None
        close(weights.gather(-1, found.top_keys), values, most)
        assert all(len(set(keys)) == len(keys) for keys in found.top_keys.flatten(0, 2).tolist())
    grid = wanted.grid(*weights.shape[-2:])
    if grid is not None:
        for pool, reduce in ((found.pooled_max, torch.amax), (found.pooled_mean, torch.mean)):
            close(pool, pooled(weights, grid, reduce), most)


@pytest.mark.parametrize("mask", [None, causal(), window(41, 7)])
@pytest.mark.parametrize("tokens", [97, 128, 192, 256, 331, 512])
def test_cells_of_every_size(kernels: list[Kernel], tokens: int, mask: Mask | None) -> None:
    """Two to eight weights wide: those that are halved in registers, and the others."""
    torch.manual_seed(tokens)
    query, key, value = (torch.randn(1, 2, tokens, 8) for _ in range(3))
    query[0, 1, 5] = math.nan
    case, wanted = Case(query, key, value, Rule(8**-0.5, mask)), Wanted(received=True, cells=64)
    _, weights = weights_of(case)
    grid = wanted.grid(tokens, tokens)
    assert grid is not None
    for kernel in kernels:
        _, found = run(kernel, *case[:3], case.rule, wanted)
        assert found is not None
        close(found.received[:, 0], weights[:, 0].sum(-2), 2e-5)  # type: ignore[index]
        for pool, reduce in ((found.pooled_max, torch.amax), (found.pooled_mean, torch.mean)):
            expected = pooled(weights, grid, reduce)
            assert pool is not None
            close(pool[:, 0], expected[:, 0], 2e-6)
            row = 5 // grid.rows
            close(pool[:, 1, row + 1 :], expected[:, 1, row + 1 :], 2e-6)
            assert pool[0, 1, row, 0].isnan(), "a maximum does not hide what is no number"


def test_every_variant_is_the_rules_twin(kernels: list[Kernel]) -> None:
    """The cases of rule.py, and what rule.py makes of them."""
    for case in CASES:
        wanted = Wanted(top=2, entropy=True, received=True, cells=3)
        groups = len(case.query) // len(case.key)
        weights = softmax(case.rule.scores(case.query, case.key))
        expected = weights @ case.value.repeat_interleave(groups, 0)
        theirs = in_blocks(case.query, case.key, case.rule, wanted)
        query, key, value = case.query[None], case.key[None], case.value[None]
        for kernel in kernels:
            context, found = run(kernel, query, key, value, case.rule, wanted)
            close(context, expected[None], 4 * case.tolerance)
            assert found is not None
            for name in ("lse", "top_weights", "entropy", "received", "pooled_max", "pooled_mean"):
                close(getattr(found, name)[0], getattr(theirs, name), 20 * case.tolerance)
            _, alone = run(kernel, query, key, None, case.rule, Wanted(cells=99))
            assert alone is not None
            assert alone.pooled_max is not None
            close(alone.pooled_max, weights[None], case.tolerance)  # a cell for each weight
            assert (alone.pooled_max[0][weights == 0] == 0).all()


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


def test_threads_give_the_same_and_many_calls_do_not_meet(kernels: list[Kernel]) -> None:
    """A thread count gives the same bits each time; calls from several threads at once too."""
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 3, 331, 16)
    for kernel in kernels:
        for threads in (1, 2, 5):
            torch.set_num_threads(threads)
            expected = _flat(kernel, q, k, v)
            results: list[list[Tensor]] = []
            workers = [
                threading.Thread(target=lambda: results.append(_flat(kernel, q, k, v)))  # noqa: B023
                for _ in range(4)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            torch.set_num_threads(1)
            assert len(results) == 4
            for result in results:
                close_to = zip(result, expected, strict=True)
                assert all(torch.allclose(a, b, atol=1e-5) for a, b in close_to)
            torch.set_num_threads(threads)
            again = _flat(kernel, q, k, v)
            torch.set_num_threads(1)
            assert all(torch.equal(a, b) for a, b in zip(again, expected, strict=True))


def _flat(kernel: Kernel, q: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
    context, found = run(kernel, q, k, v, Rule(0.25, causal()), ALL)
    assert found is not None
    return [x for x in (context, *found) if x is not None]


def _in_a_fork(queue: Any, path: str, variant: str) -> None:
    from pathlib import Path

    kernel = library.load(Path(path), variant)
    assert isinstance(kernel, Kernel)
    q, k, v = torch.ones(3, 1, 4, 300, 16)
    torch.set_num_threads(2)
    context, _ = run(kernel, q, k, v, Rule(1.0))
    assert context is not None
    queue.put(float(context.sum()))


def test_a_fork_computes_and_does_not_hang(kernels: list[Kernel]) -> None:
    kernel = kernels[0]
    q, k, v = torch.ones(3, 1, 4, 300, 16)
    torch.set_num_threads(2)
    run(kernel, q, k, v, Rule(1.0))  # PyTorch's threads are there now, and stay in the parent
    torch.set_num_threads(1)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_fork, args=(queue, str(kernel.path), kernel.variant))
    child.start()
    assert queue.get(timeout=60) == pytest.approx(4 * 300 * 16)
    child.join(30)
    assert child.exitcode == 0


def test_gradients_and_watchers_get_pytorchs_operations(
    compiled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "PATH", compiled)
    monkeypatch.setenv("REGARD_KERNEL", PLAIN)
    q, k, v = torch.randn(3, 1, 2, 5, 8)
    assert usable(q, k, v) is not None
    learned = q.clone().requires_grad_()
    assert usable(learned, k, v) is None
    with torch.no_grad():
        assert usable(learned, k, v) is not None
    assert usable(q.double(), k.double()) is None
    assert usable(q, k.half()) is None
    with torch.autocast("cpu", torch.bfloat16):
        assert usable(q, k, v) is None
    inside: list[Kernel | None] = []
    torch.vmap(lambda x: inside.append(usable(x, k, v)) or x)(torch.stack((q, q)))  # type: ignore[func-returns-value]
    assert inside == [None]
    monkeypatch.setenv("REGARD_KERNEL", "off")
    assert usable(q, k, v) is None


@pytest.mark.parametrize("trains", [False, True])
def test_pytorchs_defaults_change_nothing(kernels: list[Kernel], trains: bool) -> None:
    """The kernel writes float32 on the CPU, whatever a tensor without a dtype would be."""
    query, key, value = torch.randn(3, 16, 4, 17, 5).requires_grad_(trains).unbind()

    def found() -> list[Tensor]:
        context = attend(query, key, value).context
        whole, numbers = run(kernels[0], query, key, value, Rule(1.0), Wanted(3, True, True, 4))
        assert whole is not None
        assert numbers is not None
        own = [tensor for tensor in numbers if tensor is not None]
        grads = torch.autograd.grad(context.sum(), (query, key, value)) if trains else ()
        return [context.detach(), whole, *own, *grads]

    expected = found()
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        again = found()
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)
    assert all(torch.equal(a, b) for a, b in zip(expected, again, strict=True))


def test_attend_and_statistics_use_it(compiled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer on both paths, leading axes broadcast, one query and a long cache included."""
    monkeypatch.setattr(library, "PATH", compiled)
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 5, 1, 7, 8), torch.randn(5, 2, 11, 8), torch.randn(2, 11, 5)
    one, cached = torch.randn(1, 4, 1, 16), torch.randn(1, 2, 700, 16)
    answers = []
    for choice in ("off", PLAIN):
        monkeypatch.setenv("REGARD_KERNEL", choice)
        answers.append(
            [
                attend(q, k, v).context,
                attend(q, k, v, mask=torch.rand(11) < 2).context,
                attend(one, cached, cached, groups=2, mask=causal()).context,
                statistics(q[0, 0], k[0, :1], Rule(0.3, causal()), ALL).lse,
                attend(q.bfloat16(), k.bfloat16(), v.bfloat16()).context.float() / 100,
            ]
        )
    for theirs, ours in zip(*answers, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
