"""Measuring: what comes out, what is refused before it starts."""

import math

import pytest
import torch

from regard.cost import MECHANISMS, Setting, exponent, measure
from regard.cost.measurement import estimated_seconds
from regard.cost.peak import peak_bytes
from regard.cost.result import upper
from regard.cost.room import _container, available_memory, needed_memory
from regard.cost.units import in_bytes, in_seconds
from regard.errors import RegardError


@pytest.fixture(scope="module")
def costs():
    """Lengths far enough apart for n² to show through any noise."""
    return measure((64, 512, 2048), Setting(width=16, window=16), repeats=2)


def test_each_mechanism_has_a_time_and_a_size_for_each_length(costs):
    assert [cost.mechanism.letter for cost in costs.mechanisms] == ["K", "F", "W", "R"]
    for cost in costs.mechanisms:
        assert len(cost.seconds) == len(cost.bytes) == 3
        assert all(seconds > 0 for seconds in cost.seconds)
        assert cost.bytes[0] < cost.bytes[-1]
    assert costs.rounds in (1, 2)


def test_quadratic_attention_overtakes_windowed_attention(costs):
    kept, _, windowed, _ = costs.mechanisms
    assert kept.seconds[-1] > windowed.seconds[-1]
    assert kept.time_exponent > windowed.time_exponent
    assert kept.memory_exponent > 1.8


def test_the_four_mechanisms_run_what_they_say():
    setting = Setting(width=8, heads=2, window=3)
    kept, fused, windowed, recurrence = (m.prepare(11, setting)() for m in MECHANISMS)
    torch.testing.assert_close(kept.context, fused.context)
    assert kept.weights.shape == (1, 2, 11, 11)
    assert fused.weights is None
    assert not torch.allclose(windowed.context, fused.context)
    assert recurrence[0].shape == (1, 11, 8)


def test_measuring_leaves_threads_gradients_and_random_state_alone():
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    measure((2, 4), Setting(width=4), repeats=1)
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), state)


def test_progress_rises_from_0_to_below_1():
    told = []
    measure((2, 4), Setting(width=4), repeats=2, progress=lambda *now: told.append(now))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] < 1
    assert told[0][1] == "memory, n = 2"
    assert told[-1][1] == "time, round 2 of 2"


def test_no_new_round_once_the_budget_is_spent(monkeypatch):
    monkeypatch.setattr("regard.cost.measurement.check_time", lambda *_: None)
    assert measure((2, 4), Setting(width=4), repeats=1000, budget=1e-9).rounds == 1


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3])
def test_exact_powers_give_their_exponent(power):
    lengths = (3, 17, 40, 100, 256)
    assert exponent(lengths, [7 * n**power for n in lengths]) == pytest.approx(power)


def test_only_the_upper_half_is_fitted():
    assert [upper(range(count)) for count in (2, 3, 4, 5, 6)] == [2, 2, 2, 3, 3]
    assert exponent((1, 2, 4, 8), [99, 5, 4, 8]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ({"width": 0}, "the width must be 1 or more, got 0"),
        ({"window": 0}, "the window must be 1 or more, got 0"),
        ({"heads": -1}, "the heads must be 1 or more, got -1"),
        ({"width": 64, "heads": 3}, "the heads must divide the width: got 3 heads for width 64"),
    ],
)
def test_a_setting_that_cannot_be(setting, text):
    with pytest.raises(RegardError) as error:
        Setting(**setting)
    assert str(error.value) == text


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        ((), "an exponent needs two lengths or more, got none"),
        ((5,), "an exponent needs two lengths or more, got 5"),
        ((0, 4), "a length must be 1 or more, got 0"),
        ((4, 4), "the lengths must increase, got 4,4"),
    ],
)
def test_lengths_that_cannot_be_fitted(lengths, text):
    with pytest.raises(RegardError) as error:
        measure(lengths, Setting())
    assert str(error.value) == text


@pytest.mark.parametrize("effort", [{"repeats": 0}, {"budget": math.nan}, {"threads": 0}])
def test_efforts_that_cannot_be(effort):
    with pytest.raises(RegardError, match=r"must be (more|1)"):
        measure((2, 4), Setting(), **effort)


def test_a_length_that_does_not_fit_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("regard.cost.room.available_memory", lambda: 16 * 10**9)
    with pytest.raises(RegardError) as error:
        measure((1000, 1_000_000), Setting())
    assert str(error.value) == (
        "n = 1000000 does not fit in memory: its weights (n² × 4 bytes) take 4 TB and measuring "
        "it 12 TB, 16 GB are available; pass shorter --lengths"
    )
    with pytest.raises(RegardError, match="pass a smaller --width"):
        measure((2, 4), Setting(width=10**6))


def test_a_run_longer_than_the_budget_is_refused(monkeypatch):
    monkeypatch.setattr("regard.cost.measurement.estimated_seconds", lambda *_: 120.0)
    with pytest.raises(RegardError) as error:
        measure((2, 4), Setting())
    assert str(error.value) == (
        "measuring up to n = 4 takes about 120 s, more than the budget of 10 s; "
        "pass shorter --lengths or --budget 240"
    )


def test_when_the_system_gives_no_memory_the_length_is_named(monkeypatch):
    def refuse(run):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("regard.cost.measurement.check_time", lambda *_: None)
    monkeypatch.setattr("regard.cost.measurement.peak_bytes", refuse)
    with pytest.raises(RegardError, match="out of memory at n = 2"):
        measure((2, 4), Setting())


def test_estimates_bound_what_is_measured():
    setting = Setting(width=8, heads=2)
    with torch.no_grad():
        sizes = [peak_bytes(m.prepare(509, setting)) for m in MECHANISMS]
        assert max(sizes) <= needed_memory(509, setting) < 2 * max(sizes)
        assert estimated_seconds((2, 4), setting) > 0


def test_a_container_can_allow_less_than_the_machine_has(tmp_path):
    assert _container(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert _container(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert _container(tmp_path) is None
    assert available_memory() > 10**6


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.234e-5, "12.3 µs"), (0.00177, "1.77 ms"), (0.1, "100 ms"), (0.99999, "1 s"), (75, "75 s")],
)
def test_seconds_for_a_reader(seconds, text):
    assert in_seconds(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (999_600, "1 MB"), (201330688, "201 MB"), (4e40, "4e+25 PB")],
)
def test_bytes_for_a_reader(size, text):
    assert in_bytes(size) == text
