"""Scans by the kernel against PyTorch's path in float64: every variant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard import recurrent
from regard.attention.kernel import build, library
from regard.attention.kernel.additive import AdditiveLook
from regard.attention.kernel.layout import ScanLayout
from regard.attention.kernel.library import Kernel
from regard.attention.kernel.scan import FEW, LSTMN, SELFATTENTIVE, AdditiveScan, additive_scan
from regard.recurrent.reader import Reader
from tests.attention.kernel.conftest import PLAIN

NETWORKS: dict[str, Callable[..., Reader]] = {
    "lstmn": recurrent.LSTMN,
    "lstmn with recency": lambda *sizes, **given: recurrent.LSTMN(*sizes, recency=1.5, **given),
    "xc": recurrent.SelfAttentiveRNN,
    "xch": lambda *sizes, **given: recurrent.SelfAttentiveRNN(*sizes, form="xch", **given),
}


def trained(
    name: str,
    kind: torch.dtype,
    n: int,
    *,
    batch: int = 3,
    hidden: int = 13,
    before: int = 0,
    ragged: bool = False,
    window: int | None = None,
) -> list[Tensor]:
    """Outputs and gradients of a step of training, of a text whose beginning was read before."""
    torch.manual_seed(0)
    net = NETWORKS[name](5, hidden, window=window)
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=0.8 / parameter.shape[-1] ** 0.5)
    net, state = net.to(kind), None
    if before:
        words = torch.arange(batch) % (before + 1)
        state = net(torch.randn(before, batch, 5).to(kind), lengths=words).state.detach()
    x = torch.randn(n, batch, 5).to(kind).requires_grad_()
    read = net(x, state, lengths=torch.randint(n + 1, (batch,)) if ragged else None)
    outputs = [read.output, *(part for part in read.state[:3] if part is not None)]
    loss = torch.stack([(out * torch.randn(out.shape).to(kind)).sum() for out in outputs]).sum()
    grads = torch.autograd.grad(loss, [x, *net.parameters()])
    return [*(out.detach() for out in outputs), *grads]


def close(ours: list[Tensor], exact: list[Tensor]) -> None:
    """Rounding grows with the steps: what counts is the largest number of a tensor."""
    for got, expected in zip(ours, exact, strict=True):
        most = torch.cat((expected.abs().flatten(), torch.ones(1))).max()
        torch.testing.assert_close(got.double(), expected, rtol=0, atol=2e-5 * float(most))


@pytest.fixture
def use(
    compiled: Path, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    monkeypatch.setattr(library, "PATH", compiled)
    monkeypatch.setattr(library, "_found", {(compiled, it.variant): it for it in kernels})
    return lambda variant: monkeypatch.setenv(library.SWITCH, variant)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(
    "case",
    [
        {"n": 11, "hidden": 1},
        {"n": 41, "before": 7, "ragged": True},
        {"n": 37, "before": 3, "window": 2},
        {"n": 61, "hidden": 67, "batch": 7, "ragged": True},
    ],
)
def test_a_scan_and_its_gradient_are_those_of_pytorchs_path(
    kernels: list[Kernel], use: Callable[[str], None], name: str, case: dict[str, Any]
) -> None:
    exact = trained(name, torch.float64, **case)
    for kernel in kernels:
        use(kernel.variant)
        close(trained(name, torch.float32, **case), exact)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_any_shape(kernels: list[Kernel], compiled: Path, data: st.DataObject) -> None:
    case: dict[str, Any] = {
        "n": data.draw(st.integers(FEW, 40)),
        "batch": data.draw(st.integers(1, 9)),
        "hidden": data.draw(st.integers(1, 40)),
        "before": data.draw(st.integers(0, 20)),
        "ragged": data.draw(st.booleans()),
        "window": data.draw(st.sampled_from([None, None, 1, 5, 19])),
    }
    name = data.draw(st.sampled_from(sorted(NETWORKS)))
    exact = trained(name, torch.float64, **case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "PATH", compiled)
        for kernel in kernels:
            patch.setenv(library.SWITCH, kernel.variant)
            close(trained(name, torch.float32, **case), exact)


def scanned(it: Kernel, design: int, batch: int) -> list[Tensor]:
    """All that a scan and its gradient write for the first sequences of five."""
    torch.manual_seed(0)
    n, slots, hidden, wide = 19, 21, 37, design == LSTMN
    own, width = hidden * (4 if wide else 1), hidden * (2 if wide else 1)

    def drawn(*axes: int) -> Tensor:
        return torch.randn(5, *axes)[:batch].clone()

    keys, values, d_mixed = drawn(slots, hidden), drawn(slots, width), drawn(n, width)
    sums, queries = drawn(n, own).transpose(0, 1), drawn(n, hidden).transpose(0, 1)
    summary, d_states, v = drawn(hidden), drawn(n, hidden).transpose(0, 1), torch.randn(hidden)
    recurrent, key, query = (torch.randn(rows, hidden) * 0.1 for rows in (own, hidden, hidden))
    weights, mixed = torch.zeros(n, batch, slots), torch.zeros(n, batch, width)
    tensors = keys, queries, v, values, weights, mixed
    rest = design, None, sums, summary, recurrent, key, query
    AdditiveScan(AdditiveLook(it, *tensors), *rest).read()
    d_queries, d_sums = torch.zeros_like(queries), torch.zeros_like(sums)
    d_scores, d_squares = torch.zeros(batch, slots), torch.zeros_like(keys)
    back = d_mixed.transpose(0, 1), d_queries, d_scores, d_squares, torch.zeros(batch, hidden)
    look = AdditiveLook(it, *tensors, None, *back)
    AdditiveScan(look, *rest).read_back(d_sums, d_states, None)
    written = [x.transpose(0, 1) for x in (sums, queries, weights, mixed, d_queries, d_sums)]
    return [keys, values, d_mixed, d_scores, d_squares, back[-1], *written]


@pytest.mark.parametrize("design", [SELFATTENTIVE, LSTMN])
def test_neither_threads_nor_neighbours_change_a_bit(kernels: list[Kernel], design: int) -> None:
    """Sequences go through a scan in groups, of as many as there are threads for."""
    for kernel in kernels:
        alone, together = scanned(kernel, design, 1), scanned(kernel, design, 5)
        assert all(torch.equal(a[0], b[0]) for a, b in zip(alone, together, strict=True))
        for threads in (2, 3, 7):
            torch.set_num_threads(threads)
            again = scanned(kernel, design, 5)
            torch.set_num_threads(1)
            assert all(torch.equal(a, b) for a, b in zip(together, again, strict=True))


@pytest.mark.parametrize("name", ["lstmn", "xc"])
def test_what_is_not_a_number_stays_in_its_sequence(use: Callable[[str], None], name: str) -> None:
    use(PLAIN)
    torch.manual_seed(0)
    net, x = NETWORKS[name](5, 13), torch.randn(17, 3, 5)
    plain = net(x).output
    x[7, 1, 2] = torch.nan
    spoilt = net(x).output
    assert torch.equal(spoilt[:, 0::2], plain[:, 0::2])
    assert torch.equal(spoilt[:7], plain[:7])
    assert spoilt[7:, 1].isnan().all()


@pytest.mark.parametrize("name", ["lstmn", "xch"])
def test_many_words_are_one_call_and_few_none(
    use: Callable[[str], None], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[bool] = []
    native = Kernel.scan

    def counted(it: Kernel, call: ScanLayout, back: bool) -> None:
        calls.append(back)
        native(it, call, back)

    monkeypatch.setattr(Kernel, "scan", counted)
    use(PLAIN)
    many, again = (trained(name, torch.float32, n=FEW) for _ in range(2))
    assert calls == [False, True] * 2
    assert all(torch.equal(a, b) for a, b in zip(many, again, strict=True))
    few = trained(name, torch.float32, n=FEW - 1)
    use("off")
    trained(name, torch.float32, n=FEW)
    assert calls == [False, True] * 2
    close(few, trained(name, torch.float64, n=FEW - 1))


def test_what_a_scan_takes(kernels: list[Kernel], use: Callable[[str], None]) -> None:
    use(PLAIN)
    n, batch, hidden = FEW, 3, 5
    keys, queries, v = (
        torch.ones(batch, n, hidden),
        torch.ones(n, batch, hidden),
        torch.ones(hidden),
    )
    weights, mixed = torch.zeros(n, batch, n), torch.empty(n, batch, hidden)
    look = AdditiveLook(kernels[0], keys, queries, v, keys, weights, mixed)
    sums, summary, square = queries.clone(), keys[:, 0], torch.ones(hidden, hidden)
    rest = SELFATTENTIVE, None, sums, summary, square, square, torch.ones(hidden, 7)[:, :hidden]
    scan = additive_scan(look, *rest, None)
    assert scan is not None
    assert (scan.call.words, scan.call.slots, scan.call.window) == (n, 0, 0)
    assert additive_scan(None, *rest) is None
    assert additive_scan(look, SELFATTENTIVE, None, sums[1:], *rest[3:]) is None
    assert additive_scan(look, *rest, square.double()) is None


def test_the_designs_are_those_of_the_library() -> None:
    header = (build.HERE / "scan.h").read_text()
    assert f"SELFATTENTIVE = {SELFATTENTIVE}, LSTMN = {LSTMN} " in header


def test_where_there_is_no_memory_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def regard_scan(self, *_: object) -> int:
            return 1

    it = Kernel(Path(), PLAIN, 0, {}, False, Full())  # type: ignore[arg-type]
    with pytest.raises(MemoryError, match="no memory for the matrices of a recurrent network"):
        it.scan(ScanLayout(), back=False)
