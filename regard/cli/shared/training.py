"""A training: from the options of ``regard train`` to its outcome."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import click

from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.train.tasks.job import Job

FLAGS = {
    "pairs": "data.pairs",
    "source": "data.source",
    "target": "data.target",
    "source_column": "data.source_column",
    "target_column": "data.target_column",
    "valid_pairs": "data.valid_pairs",
    "valid_source": "data.valid_source",
    "valid_target": "data.valid_target",
    "test_pairs": "data.test_pairs",
    "test_source": "data.test_source",
    "test_target": "data.test_target",
    "text": "data.text",
    "data": "data.file",
    "images": "data.images",
    "sounds": "data.sounds",
    "train_share": "data.train_share",
    "series": "data.series",
    "horizon": "data.horizon",
    "context": "data.context",
    "season": "data.season",
    "state": "data.state",
    "time": "data.time",
    "decimal": "data.decimal",
    "gaps": "data.gaps",
    "history": "data.history",
    "items": "data.items",
    "episodes": "data.episodes",
    "vectors": "data.vectors",
    "valid": "data.valid",
    "test": "data.test",
    "column": "data.column",
    "unique": "data.unique",
    "continuous": "data.continuous",
    "vocabulary": "data.vocabulary",
    "level": "data.level",
    "max_length": "data.max_length",
    "model": "model.model",
    "size": "model.size",
    "dropout": "model.dropout",
    "pointer": "model.pointer",
    "columns": "data.columns",
    "tokenizer": "data.tokenizer",
    "optimizer": "train.optimizer",
    "learning_rate": "train.learning_rate",
    "batch_tokens": "train.batch_tokens",
    "epochs": "train.epochs",
    "steps": "train.steps",
    "minutes": "train.minutes",
    "patience": "train.patience",
    "seed": "train.seed",
    "threads": "train.threads",
    "precision": "train.precision",
    "start": "train.start",
    "freeze": "train.freeze",
}
"""Options that are short for a setting."""
KINDS = {
    "classify": {"images": "images", "sounds": "sounds"},
    "label": {"images": "label-images", "series": "label-series"},
}
"""What else a command reads besides sentences: a setting of the data, and the task of it."""


def run(task: str, options: dict[str, Any], reverse: bool = False) -> None:
    """Train as the options say; ``reverse``: with source and target swapped."""
    from regard.train.data.config import reversed_sides
    from regard.train.settings import gathered

    began = time.monotonic()  # before torch is imported, which takes its time too
    config, assignments = options.pop("config"), options.pop("assignments")
    output, resume = options.pop("output"), options.pop("resume")
    tensorboard, find = options.pop("tensorboard"), options.pop("find_rate")
    if find == (output is not None):
        raise RegardError(
            "--find-rate writes no folder: leave -o out" if find else "give -o FOLDER to train into"
        )
    if find and (resume or tensorboard):
        what = "--resume" if resume else "--tensorboard"
        raise RegardError(f"--find-rate tries step sizes and keeps nothing: leave {what} out")
    flags = [(FLAGS[name], value) for name, value in options.items() if value is not None]
    settings = gathered(config, flags, assignments)
    if reverse:
        settings["data"] = reversed_sides(settings.get("data", {}))
    kind = _kind(task, settings, output, resume)
    if find:
        from regard.train.run.findrate import find_rate, format_found

        click.echo(format_found(find_rate(job_of(kind), settings, click.echo)))
        return
    from regard.train.run.distributed import MainProcessError
    from regard.train.run.progress import format_outcome, progress_on
    from regard.train.run.start import train as train_model

    main = os.environ.get("RANK", "0") == "0"
    progress = progress_on() if main else None
    try:
        outcome = train_model(
            job_of(kind),
            settings,
            output,
            resume=resume,
            tensorboard=tensorboard,
            progress=progress,
            began=began,
        )
    except MainProcessError:
        click.get_current_context().exit(2)
    finally:
        if progress:
            progress.close()
    if main:
        click.echo(format_outcome(outcome, task, output), err=outcome.interrupted)
    if outcome.interrupted:
        click.get_current_context().exit(130)


def _kind(task: str, settings: dict[str, Any], output: str | None, resume: bool) -> str:
    """Of what a classifier or labeller is: what is given, or what the run has that goes on."""
    kinds = KINDS.get(task, {})
    given = [name for name in ("file", *kinds) if name in settings.get("data", {})]
    if kinds and len(given) > 1:
        names = " and ".join("--data" if name == "file" else f"--{name}" for name in given)
        raise RegardError(f"{names} are two kinds of data: give one")
    if given:
        return kinds.get(given[0], task)
    if resume and output is not None:
        from regard.store.folder import RunFolder

        folder = RunFolder(output)
        saved = folder.read_config().get("task") if folder.config.exists() else None
        return str(saved) if saved in kinds.values() else task
    return task


def job_of(task: str) -> Job[Any, Any, Any, Any, Any]:
    """The kind of training that a command is for."""
    from regard.train.tasks.act import Act
    from regard.train.tasks.classify import Classify
    from regard.train.tasks.forecast import Forecasts
    from regard.train.tasks.images import ClassifyImages
    from regard.train.tasks.label import LabelWords
    from regard.train.tasks.labelpieces import LabelPatches, LabelSteps
    from regard.train.tasks.lm import Language
    from regard.train.tasks.recommend import Recommend
    from regard.train.tasks.sounds import ClassifySounds
    from regard.train.tasks.translate import Translate

    jobs: list[Job[Any, Any, Any, Any, Any]]
    jobs = [Translate(), Language(), Classify(), ClassifyImages(), ClassifySounds(), Forecasts()]
    jobs += [Recommend(), LabelWords(), LabelPatches(), LabelSteps(), Act()]
    return next(job for job in jobs if job.task == task)
