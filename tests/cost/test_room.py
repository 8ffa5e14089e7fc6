"""Is there memory and time for it?"""

from pathlib import Path

import pytest
import torch

from regard.cost.measurement import estimated_seconds, measure
from regard.cost.mechanisms import MECHANISMS, Run
from regard.cost.peak import peak_bytes
from regard.cost.room import _container, available_memory, needed_memory
from regard.cost.setting import Setting
from regard.errors import RegardError


def test_a_length_that_does_not_fit_is_refused_with_its_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("regard.cost.room.available_memory", lambda: 16 * 10**9)
    with pytest.raises(RegardError) as error:
        measure((1000, 1_000_000), Setting())
    assert str(error.value) == (
        "n = 1000000 does not fit in memory: its weights (n² × 4 bytes) take 4 TB and measuring "
        "it 12 TB, 16 GB are available; pass shorter --lengths"
    )
    with pytest.raises(RegardError, match="pass a smaller --width"):
        measure((2, 4), Setting(width=10**6))


def test_a_run_longer_than_the_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.cost.measurement.estimated_seconds", lambda *_: 120.0)
    with pytest.raises(RegardError) as error:
        measure((2, 4), Setting())
    assert str(error.value) == (
        "measuring up to n = 4 takes about 120 s, more than the budget of 10 s; "
        "pass shorter --lengths or --budget 240"
    )


def test_when_the_system_gives_no_memory_the_length_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(run: Run) -> int:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr("regard.cost.measurement.check_time", lambda *_: None)
    monkeypatch.setattr("regard.cost.measurement.peak_bytes", refuse)
    with pytest.raises(RegardError, match="out of memory at n = 2"):
        measure((2, 4), Setting())


def test_estimates_bound_what_is_measured() -> None:
    setting = Setting(width=8, heads=2)
    with torch.no_grad():
        sizes = [peak_bytes(m.prepare(509, setting)) for m in MECHANISMS]
        assert max(sizes) <= needed_memory(509, setting) < 2 * max(sizes)
        assert estimated_seconds((2, 4), setting) > 0


def test_a_container_can_allow_less_than_the_machine_has(tmp_path: Path) -> None:
    assert _container(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 200\n")
    assert _container(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert _container(tmp_path) is None
    assert (available_memory() or 0) > 10**6
