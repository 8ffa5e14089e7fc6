"""Options of training are settings; each task has its job. Trainings: tests/cli/test_train.py."""

from __future__ import annotations

from dataclasses import fields

import pytest

from regard.cli.shared.training import FLAGS, KINDS, job_of
from regard.models.language import LanguageConfig
from regard.models.translators.config import TranslatorConfig
from regard.train.config import TrainConfig
from regard.train.data import config, thingconfig

TASKS = ("translate", "lm", "classify", "label", "forecast", "recommend", "act")


def test_every_flag_is_a_setting() -> None:
    data = [config.PairsConfig, config.TextConfig, config.LabelledConfig]
    data += [thingconfig.ImagesConfig, thingconfig.SoundsConfig]
    data += [thingconfig.SeriesConfig, thingconfig.HistoryConfig, thingconfig.StatesConfig]
    data += [thingconfig.EpisodesConfig]
    sections = [("train", TrainConfig), *(("data", kind) for kind in data)]
    sections += [("model", TranslatorConfig), ("model", LanguageConfig)]
    known = {f"{name}.{f.name}" for name, kind in sections for f in fields(kind)}
    assert set(FLAGS.values()) <= known | {"model.size"}


@pytest.mark.parametrize("task", [*TASKS, *(k for kinds in KINDS.values() for k in kinds.values())])
def test_every_task_has_its_job(task: str) -> None:
    assert job_of(task).task == task
