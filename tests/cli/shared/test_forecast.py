"""``read --series``: what is refused before any work, and the words over a forecast."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.cli.shared.forecast import ForecastOptions, read_forecast
from regard.cli.shared.series import SeriesOptions
from regard.errors import FileError, RegardError
from regard.models.baselines import Baselines
from regard.models.forecaster import Forecaster, sized_forecaster
from regard.store.folder import BASELINES, RunFolder
from regard.store.weights import named_weights, write_weights


@pytest.fixture
def run(tmp_path: Path) -> Path:
    config = sized_forecaster("lstm", "tiny", context=12, horizon=6, patch=3)
    RunFolder(tmp_path).write_config({"task": "forecast", "model": config.to_dict(), "data": {}})
    write_weights(tmp_path / "model.safetensors", named_weights(Forecaster(config)))
    (tmp_path / BASELINES).write_text(Baselines(1, np.zeros((12, 6))).to_text())
    (tmp_path / "s.csv").write_text("t,a\n" + "".join(f"{i},{i % 5}\n" for i in range(20)))
    return tmp_path


def table(file: Path) -> SeriesOptions:
    return SeriesOptions(str(file), None, None, None, None)


def test_a_design_without_attention_is_drawn_without_it(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ForecastOptions("18", None, None, None, None, str(run / "f.csv"), None)
    read_forecast(str(run), table(run / "s.csv"), options)
    said = capsys.readouterr().out
    assert said.startswith("a: 6 steps from 18 by lstm\n")
    assert "lstm has no attention" in said
    assert len((run / "f.csv").read_text().splitlines()) == 7


def test_refused(run: Path) -> None:
    options = ForecastOptions(None, None, None, None, None, None, str(run / "f.jpg"))
    with pytest.raises(RegardError, match=r"--png takes a file that ends in \.png"):
        read_forecast(str(run), table(run / "s.csv"), options)
    html = ForecastOptions(None, None, None, None, str(run / "f.html"), None, None)
    with pytest.raises(RegardError, match="has no attention, and a page shows attention"):
        read_forecast(str(run), table(run / "s.csv"), html)
    over = ForecastOptions(None, None, None, None, None, str(run / "s.csv"), None)
    before = (run / "s.csv").read_text()
    with pytest.raises(RegardError, match=r"--csv would write over '.*s\.csv', which is read"):
        read_forecast(str(run), table(run / "s.csv"), over)
    assert (run / "s.csv").read_text() == before
    plain = ForecastOptions(None, None, None, None, None, None, None)
    with pytest.raises(FileError, match="is neither a folder nor a model that comes with regard"):
        read_forecast("nowhere", table(run / "s.csv"), plain)
