"""``--series``: the options over the settings of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regard.cli.shared.series import SeriesOptions
from regard.errors import RegardError

NONE: dict[str, Any] = dict.fromkeys(("series", "channel", "time", "decimal", "gaps"))


def test_options_come_before_the_run_s_settings(tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text("when;other;a;b\n1;1;1,234;2\n2;3;5,678;3\n4;4;1,111;4\n")
    usual = {"columns": "a, b", "time": "when", "decimal": ",", "gaps": "steps"}
    series = SeriesOptions(**(NONE | {"series": str(file)})).read(usual)
    assert series.channels == ["a", "b"]
    assert series.values[0].tolist() == [1.234, 2]
    chosen = {"series": str(file), "channel": "b", "time": "other", "gaps": "steps"}
    series = SeriesOptions(**(NONE | chosen)).read({})
    assert series.channels == ["b"]
    assert series.clock.texts == ["1", "3", "4"]


def test_options_of_a_table_need_one() -> None:
    SeriesOptions(**NONE).check()
    with pytest.raises(RegardError, match="--gaps says how a table is read: it goes with --series"):
        SeriesOptions(**(NONE | {"gaps": "steps"})).check()
