"""Additive attention on a tape against float64 by its definition and autograd: every variant."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from regard.attention.kernel import library
from regard.attention.kernel.additive import AdditiveLook, usable
from regard.attention.kernel.layout import LookLayout
from regard.attention.kernel.library import Kernel
from regard.recurrent.scan.bahdanau import BahdanauMatrices, bahdanau_scan
from tests.attention.kernel.conftest import PLAIN

N, BATCH, SLOTS = 2, 3, 7


class Tapes(NamedTuple):
    """What a scan has; no axis but the last is without gaps."""

    keys: Tensor
    queries: Tensor
    v: Tensor
    values: Tensor
    d_mixed: Tensor


def tapes(hidden: int, width: int, batch: int = BATCH, slots: int = SLOTS) -> Tapes:
    torch.manual_seed(hidden)
    return Tapes(
        torch.randn(slots, batch, hidden + 3).transpose(0, 1)[..., 1 : hidden + 1],
        torch.randn(N, batch, 2 * hidden)[..., hidden:],
        torch.randn(hidden),
        torch.randn(batch, slots + 5, width)[:, 2:-3],
        torch.randn(batch, N, width).transpose(0, 1),
    )


class Looked(NamedTuple):
    weights: Tensor
    mixed: Tensor
    d_queries: Tensor
    d_keys: Tensor
    d_v: Tensor
    d_recency: Tensor


RECENCY = torch.tensor([1.5])


def by_kernel(it: Kernel, x: Tapes, seen: list[slice], forbidden: Tensor | None = None) -> Looked:
    """All steps and all steps back; step t sees ``seen[t]``."""
    batch, slots, hidden = x.keys.shape
    weights, mixed = torch.zeros(N, batch, slots), torch.empty(N, batch, x.values.shape[2])
    forward = AdditiveLook(it, *x[:4], weights, mixed, forbidden, recency=RECENCY)
    for t, slots_seen in enumerate(seen):
        forward.look(t, slots_seen)
    d_queries, d_scores = torch.empty(N, batch, hidden), torch.zeros(batch, slots)
    d_squares, d_v = torch.zeros(batch, slots, hidden), torch.zeros(batch, hidden)
    d_recency = torch.zeros(batch)
    given = x.d_mixed, d_queries, d_scores, d_squares, d_v, RECENCY, d_recency
    back = AdditiveLook(it, *x[:4], weights, mixed, None, *given)
    for t in reversed(range(N)):
        back.look_back(t, seen[t])
    d_keys = (d_scores.unsqueeze(-1) - d_squares) * x.v
    return Looked(weights, mixed, d_queries, d_keys, d_v.sum(0), d_recency.sum(0))


def by_definition(x: Tapes, seen: list[slice], forbidden: Tensor | None = None) -> Looked:
    exact = [part.double().requires_grad_() for part in x[:4]]
    keys, queries, v, values = exact
    no = torch.ones(N, *keys.shape[:2], dtype=torch.bool)
    for t, slots_seen in enumerate(seen):
        no[t, :, slots_seen] = False if forbidden is None else forbidden[:, slots_seen]
    recency, newest = RECENCY.double().requires_grad_(), torch.zeros(N, 1, keys.shape[1])
    for t, slots_seen in enumerate(seen):
        newest[t, :, slots_seen.stop - 1] = 1
    e = torch.tanh(keys + queries.unsqueeze(2)) @ v + recency * newest
    e = e.masked_fill(no, -math.inf)
    weights = e.softmax(-1).masked_fill(no, 0)
    mixed = torch.einsum("tbs,bsw->tbw", weights, values)
    wanted = (*exact[:3], recency)
    d_keys, d_queries, d_v, d_recency = torch.autograd.grad((mixed * x.d_mixed).sum(), wanted)
    return Looked(weights.detach(), mixed.detach(), d_queries, d_keys, d_v, d_recency[0])


@pytest.mark.parametrize(
    ("hidden", "width"), [(1, 1), (2, 5), (13, 31), (16, 32), (37, 11), (67, 131)]
)
@pytest.mark.parametrize("seen", [[slice(0, 7), slice(0, 7)], [slice(0, 5), slice(3, 6)]])
def test_a_look_and_its_gradient_are_the_definition(
    kernels: list[Kernel], hidden: int, width: int, seen: list[slice]
) -> None:
    x, forbidden = tapes(hidden, width), torch.zeros(BATCH, SLOTS, dtype=torch.bool)
    forbidden[1, :4] = True
    for no in (None, forbidden):
        expected = by_definition(x, seen, no)
        for kernel in kernels:
            for ours, theirs in zip(by_kernel(kernel, x, seen, no), expected, strict=True):
                torch.testing.assert_close(ours.double(), theirs, rtol=5e-6, atol=1e-5)


def test_a_step_that_sees_nothing_finds_zeros(kernels: list[Kernel]) -> None:
    x, all_forbidden = tapes(5, 3), torch.ones(BATCH, SLOTS, dtype=torch.bool)
    for kernel in kernels:
        for seen, no in ((slice(2, 2), None), (slice(0, 7), all_forbidden)):
            for part in by_kernel(kernel, x, [seen] * N, no):
                assert not part.any()


def test_tanh_is_right_everywhere(kernels: list[Kernel]) -> None:
    """Of one column and v = 1: log(a[i] / a[j]) = tanh(x_i) where x_j = 0, newest left out. Both
    exponentials are within 2e-7."""
    x = torch.cat((torch.linspace(-12, 12, 4001), torch.tensor([-1e30, -math.inf, math.inf, 0, 0])))
    shape = Tapes(x.view(1, -1, 1), torch.zeros(N, 1, 1), torch.ones(1), x.new_zeros(1, 4006, 1),
                  torch.zeros(N, 1, 1))  # fmt: skip
    for kernel in kernels:
        a = by_kernel(kernel, shape, [slice(0, 4006)] * N).weights[0, 0, :-1].double()
        assert ((a / a[-1]).log() - x[:-1].double().tanh()).abs().max() < 6e-7


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_a_number_stays_in_its_sequence(kernels: list[Kernel], bad: float) -> None:
    """NaN spoils its own sequence; an infinite key is ±1 after tanh, as PyTorch has it."""
    x = tapes(13, 5)
    spoilt = x._replace(keys=x.keys.clone())
    spoilt.keys[1, 2, 12] = bad
    seen = [slice(0, SLOTS)] * N
    for kernel in kernels:
        plain, found = by_kernel(kernel, x, seen), by_kernel(kernel, spoilt, seen)
        for before, after in zip(plain[:3], found[:3], strict=True):
            assert torch.equal(after[:, 0::2], before[:, 0::2])
            assert after[:, 1].isnan().any() == math.isnan(bad)
        assert found.d_v.isnan().any() == math.isnan(bad)
        if math.isinf(bad):
            for ours, theirs in zip(found, by_definition(spoilt, seen), strict=True):
                torch.testing.assert_close(ours.double(), theirs, rtol=5e-6, atol=5e-6)


def test_what_is_forbidden_reaches_nothing(kernels: list[Kernel]) -> None:
    """A forbidden slot's key and value may be no numbers at all, forward and back."""
    x, forbidden = tapes(13, 5), torch.zeros(BATCH, SLOTS, dtype=torch.bool)
    forbidden[1, 3] = True
    spoilt = x._replace(keys=x.keys.clone(), values=x.values.clone())
    spoilt.keys[1, 3, 7] = spoilt.values[1, 3, 2] = math.nan
    seen = [slice(0, SLOTS)] * N
    for kernel in kernels:
        plain, found = (by_kernel(kernel, t, seen, forbidden) for t in (x, spoilt))
        for before, after in zip(plain, found, strict=True):
            assert torch.equal(before, after)


def test_no_thread_count_changes_a_bit(kernels: list[Kernel]) -> None:
    x = tapes(131, 67, batch=5, slots=61)  # enough for more than one thread
    for kernel in kernels:
        results = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            results.append(by_kernel(kernel, x, [slice(0, 61), slice(1, 61)]))
        torch.set_num_threads(1)
        for other in results[1:]:
            assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_what_the_kernel_takes(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PATH", compiled)
    monkeypatch.setenv("REGARD_KERNEL", PLAIN)
    x = torch.randn(3, 5, 7)
    assert usable(x, x.transpose(0, 1), torch.nn.Parameter(x)) is not None
    assert usable(x, x.double()) is None
    assert usable(x, x.mT) is None
    with torch.autocast("cpu", torch.bfloat16):
        assert usable(x) is None
    monkeypatch.setenv("REGARD_KERNEL", "off")
    assert usable(x) is None


def test_bahdanaus_scan_uses_it(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One answer on both paths, gradients included; the same bits each time."""
    monkeypatch.setattr(library, "PATH", compiled)
    calls: list[bool] = []
    native = Kernel.look

    def counted(it: Kernel, call: LookLayout, back: bool, *step: int) -> None:
        calls.append(back)
        native(it, call, back, *step)

    def trained() -> list[Tensor]:
        torch.manual_seed(0)
        shapes = [(5, 3, 33), (3, 11), (3, 7, 13), (3, 7, 17)]
        shapes += [(13, 11), (13,), (33, 17), (22, 11), (11, 11)]
        parts = [torch.randn(shape).mul_(0.5).requires_grad_() for shape in shapes]
        allowed = torch.arange(7) < torch.tensor([7, 2, 5]).unsqueeze(-1)
        inputs, state, keys, values, *matrices = parts
        given = inputs, state, keys, values, allowed, BahdanauMatrices(*matrices)
        before, contexts, weights = bahdanau_scan(*given)
        loss = before.square().sum() + contexts.square().sum()
        return [before, contexts, weights, *torch.autograd.grad(loss, parts)]

    monkeypatch.setattr(Kernel, "look", counted)
    monkeypatch.setenv("REGARD_KERNEL", "off")
    theirs = trained()
    assert not calls
    monkeypatch.setenv("REGARD_KERNEL", PLAIN)
    ours, again = trained(), trained()
    assert set(calls) == {False, True}
    for a, b, c in zip(ours, theirs, again, strict=True):
        torch.testing.assert_close(a, b, rtol=2e-5, atol=2e-5)
        assert torch.equal(a, c)
