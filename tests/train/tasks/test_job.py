"""A job that is not of text: numbers from a file, nothing learned first, and it trains."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.models.config import ModelConfig
from regard.train.run.log import read_log
from regard.train.run.start import train
from regard.train.settings import complain
from regard.train.tasks.job import Files, Job, Settings


@dataclass(frozen=True)
class SeriesConfig:
    """Where a series of numbers comes from."""

    file: str = ""
    held: int = 2

    def __post_init__(self) -> None:
        complain([] if self.file else ["file is missing"])


@dataclass(frozen=True)
class LineConfig(ModelConfig):
    """y = a x, or y = a x + b."""

    what = "a line"

    model: str
    inputs: int
    bias: bool = True

    def problems(self) -> Iterator[str]:
        if self.model != "line":
            yield f"model must be line, got {self.model!r}"


class Fit:
    """The mean square of what the line misses the series by."""

    score = "loss"
    higher = False

    def __init__(self, model: nn.Linear, parts: list[list[float]]) -> None:
        self.model, (self.train, self.valid) = model, parts

    def batches(self, epoch: int) -> list[list[int]]:
        return [list(range(len(self.train)))]

    def targets(self, rows: list[int]) -> int:
        return len(rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._missed(0, self.train)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._missed(len(self.train), self.valid)

    def _missed(self, first: int, wanted: list[float]) -> Tensor:
        x = torch.arange(first, first + len(wanted), dtype=torch.float32)[:, None]
        said: Tensor = self.model(x)
        return (said[:, 0] - torch.tensor(wanted)).square().sum()

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        loss = float(forward(list(range(len(self.valid)))))
        return {"loss": loss, "score": loss}


class FitLine(Job[SeriesConfig, list[float], list[list[float]], LineConfig, nn.Linear]):
    """Fit a line to a series."""

    task = "line"
    reads = "series"
    data_config = SeriesConfig
    model_config = LineConfig
    usual_model = "line"
    usual_epochs = 3
    undecided = {"inputs": 1}  # noqa: RUF012

    def recipe(self, model: Mapping[str, Any]) -> dict[str, Any]:
        return {"learning_rate": 0.1, "warmup": 0, "schedule": "constant"}

    def sized(self, model: str, size: str, **settings: Any) -> LineConfig:
        return LineConfig(model, **settings)

    def build(self, config: LineConfig) -> nn.Linear:
        return nn.Linear(config.inputs, 1, config.bias)

    def read(self, data: SeriesConfig) -> list[float]:
        return [float(line) for line in Path(data.file).read_text().split()]

    def fingerprint(self, read: list[float]) -> str:
        return str(sum(read))

    def encode(self, read: list[float], learned: Files, data: SeriesConfig) -> list[list[float]]:
        return [read[: -data.held], read[-data.held :]]

    def decided(self, corpus: list[list[float]]) -> dict[str, Any]:
        return {"inputs": 1}

    def held_out(self, read: list[float]) -> Files:
        return {"valid.txt": "\n".join(map(str, read[-2:]))}

    def make_task(
        self, model: nn.Linear, corpus: list[list[float]], settings: Settings[SeriesConfig]
    ) -> Fit:
        return Fit(model, corpus)

    def summary(self, corpus: list[list[float]], data: SeriesConfig) -> dict[str, Any]:
        return {"train": len(corpus[0])}

    def notes(self, corpus: list[list[float]], data: SeriesConfig) -> Iterable[str]:
        return [f"{len(corpus[0])} numbers"]


def test_a_job_needs_no_tokens(tmp_path: Path) -> None:
    (tmp_path / "series").write_text("1 3 5 7 9 11")
    tree = {
        "data": {"file": str(tmp_path / "series")},
        "train": {"steps": 300, "validate_every": 100},
    }
    outcome = train(FitLine(), tree, str(tmp_path / "run"))
    assert outcome.state.best == pytest.approx(0, abs=0.05)
    assert {p.name for p in (tmp_path / "run").iterdir()} >= {"config.json", "valid.txt"}
    assert not (tmp_path / "run" / "tokens.json").exists()
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["model"] == {"model": "line", "inputs": 1, "bias": True}
    assert read_log(tmp_path / "run" / "log.jsonl")[0]["train"] == 4
    again = train(FitLine(), {"train": {"steps": 301}}, str(tmp_path / "run"), resume=True)
    assert again.state.step == 301


def test_all_problems_at_once() -> None:
    tree = {"data": {}, "model": {"model": "curve"}, "train": {"clip": -1}, "trian": {}}
    with pytest.raises(ConfigError) as caught:
        FitLine().settle(tree)
    for text in ("no section trian", "data.file is missing", "train.clip", "got 'curve'"):
        assert text in str(caught.value)
    with pytest.raises(ConfigError, match=r"no setting model\.bios; did you mean 'bias'"):
        FitLine().settle({"data": {"file": "x"}, "model": {"bios": 1}})
