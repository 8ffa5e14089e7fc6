"""Peak memory, on cases that can be counted by hand: a float32 takes 4 bytes."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from regard.cost.mechanisms import MECHANISMS, Mechanism, Run
from regard.cost.peak import PeakMemory, peak_bytes
from regard.cost.result import exponent
from regard.cost.setting import Setting

N = 1009  # a prime, so that no two sizes agree by accident
x = torch.ones(N)


def test_one_new_tensor_counts_its_bytes() -> None:
    assert peak_bytes(lambda: x + 1) == 4 * N


def test_inputs_views_and_in_place_operations_cost_nothing() -> None:
    y = torch.ones(2, N)
    assert peak_bytes(lambda: y.T[3:].unsqueeze(0)) == 0
    assert peak_bytes(lambda: y.add_(1)) == 0
    assert peak_bytes(lambda: y.reshape(-1)) == 0


def test_freed_tensors_are_taken_off() -> None:
    with PeakMemory() as memory:
        a = x + 1
        b = a + 1
        assert memory.now == 8 * N
        del a
        assert memory.now == 4 * N
        c = b + 1
        assert (memory.now, memory.peak) == (8 * N, 8 * N)
        del b, c
        assert (memory.now, memory.peak) == (0, 8 * N)


def test_a_view_keeps_its_storage_alive() -> None:
    with PeakMemory() as memory:
        a = x + 1
        view = a[:3]
        del a
        assert memory.now == 4 * N
        del view
        assert memory.now == 0


def test_a_chain_holds_two_at_a_time_not_all() -> None:
    def chain() -> Tensor:
        y = x + 1
        for _ in range(10):
            y = y + 1
        return y

    assert peak_bytes(chain) == 8 * N


def test_several_results_and_other_types_count() -> None:
    # Ten float32 values and ten int64 indices.
    assert peak_bytes(lambda: x.topk(10)) == 10 * 4 + 10 * 8
    assert peak_bytes(lambda: x > 0) == N


def test_what_outlives_the_counting_does_no_harm() -> None:
    with PeakMemory() as memory:
        y = x + 1
    del y
    assert memory.now == 0
    assert memory.peak == 4 * N


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.letter)
def test_the_count_agrees_with_what_the_allocator_reports(
    mechanism: Mechanism, tmp_path: Path
) -> None:
    """PyTorch's profiler sees each allocation; only a fused kernel's scratch is ours to miss."""
    run = mechanism.prepare(257, Setting(width=8))
    with torch.no_grad():
        counted, allocated = peak_bytes(run), allocator_peak(run, tmp_path)
    if mechanism.letter == "F":
        assert counted < allocated
    else:
        assert counted == pytest.approx(allocated, abs=64)


def allocator_peak(run: Run, folder: Path) -> int:
    file = folder / "trace.json"
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
    ) as profile:
        kept = run()
    profile.export_chrome_trace(str(file))
    del kept
    events = json.loads(file.read_text())["traceEvents"]
    now = peak = 0
    for event in sorted((e for e in events if e["name"] == "[memory]"), key=lambda e: e["ts"]):
        now += event["args"]["Bytes"]
        peak = max(peak, now)
    return peak


@pytest.mark.parametrize(
    ("letter", "lengths", "power"),
    [
        ("K", (128, 256, 512), 2),
        ("F", (512, 1024, 2048), 1),
        ("W", (4096, 8192, 16384), 1),  # long enough for the block of the mask not to matter
        ("R", (128, 256, 512), 1),
    ],
)
def test_memory_grows_as_the_formula_says(
    letter: str, lengths: tuple[int, ...], power: int
) -> None:
    mechanism = next(m for m in MECHANISMS if m.letter == letter)
    with torch.no_grad():
        sizes = [peak_bytes(mechanism.prepare(n, Setting())) for n in lengths]
    assert mechanism.memory_power == power
    assert exponent(lengths, sizes) == pytest.approx(power, abs=0.05)


def test_heads_multiply_the_weights_that_are_kept() -> None:
    kept = MECHANISMS[0]
    with torch.no_grad():
        one, four = (
            peak_bytes(kept.prepare(512, Setting(width=8, heads=heads))) for heads in (1, 4)
        )
    assert four == pytest.approx(4 * one, rel=0.01)
