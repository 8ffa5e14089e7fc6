"""The kernel against float64 by the definition, and against the PyTorch path: every variant."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Mask, attend, causal, window
from regard.attention.kernel import library
from regard.attention.kernel.library import Kernel
from regard.attention.kernel.run import run, usable
from regard.attention.rule import Rule, softmax
from regard.attention.statistics import in_blocks, statistics
from regard.attention.wanted import Statistics, Wanted
from tests.attention.kernel.conftest import PLAIN
from tests.attention.kernel.definition import ALL, Case, cases, close, weights_of
from tests.attention.rulecases import CASES
from tests.attention.test_statistics import pooled


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
