"""Start: from a job and its settings to a model in its run folder."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import asdict, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard import __version__
from regard.errors import ConfigError, MissingExtraError, RegardError
from regard.files import write_text
from regard.store.folder import RunFolder, kind_of
from regard.store.shipped import find_folder
from regard.store.weights import read_weights, set_weights, unpacked
from regard.text import visible
from regard.train.config import CHANGEABLE, FREE, TrainConfig
from regard.train.run.checkpoint import Checkpoints
from regard.train.run.distributed import World, joined
from regard.train.run.folder import check_same, claimed
from regard.train.run.freeze import freeze
from regard.train.run.grow import grown
from regard.train.run.log import Log, draw_curves
from regard.train.run.loop import Loop
from regard.train.run.progress import Outcome, Progress
from regard.train.run.report import write_report
from regard.train.run.state import seed_all
from regard.train.settings import Tree, flat, merged
from regard.train.tasks.job import (
    SECTIONS,
    Config,
    Corpus,
    Data,
    Files,
    Job,
    Model,
    Read,
    Settings,
)

MADE = ("made.regard", "made.torch")
"""By which versions a run was begun; later ones may go on with it."""
MAY_DIFFER = {"dropout", "feedforward", "recency"}
"""Of a model whose weights a run begins with: dropout is training's, feed-forward layers may grow,
the recency is where a learned number began."""
LEFT_OUT = {"activation": "relu"}
"""What a setting is that a config leaves out; all others are 0."""


def train(
    job: Job[Data, Read, Corpus, Config, Model],
    settings: Tree,
    output: str,
    *,
    resume: bool = False,
    tensorboard: bool = False,
    progress: Progress | None = None,
    began: float | None = None,
) -> Outcome:
    """Train a model into the run folder ``output``. Called by every process of a run.

    ``began``: when the command did (``time.monotonic()``); ``train.minutes`` count from there.
    """
    began = time.monotonic() if began is None else began
    folder = RunFolder(output)
    with joined(str(settings.get("train", {}).get("device", "auto"))) as world, ExitStack() as held:
        note = progress.note if progress and world.main else Progress().note
        world.from_main(lambda: held.enter_context(claimed(folder, resume)))
        if resume:
            settings = _resumed(job, folder, world.from_main(folder.read_config), settings)
        chosen = job.settle(settings, begun=resume)
        _check_able(job, chosen, world, tensorboard)
        if chosen.train.threads:
            torch.set_num_threads(chosen.train.threads)
        read = job.read(chosen.data)
        learned = _learned(job, read, chosen, folder, world)
        corpus = job.encode(read, learned, chosen.data)
        decided = job.decided(corpus)
        shape = job.shaped(chosen.model, decided)
        config = _config(job, chosen, shape, job.fingerprint(read))
        changed = world.from_main(lambda: _changed(job, folder, config)) if resume else {}
        fresh = not resume or world.from_main(Checkpoints(folder.checkpoints).empty)
        model = _model(job, shape, corpus, chosen, note)
        if fresh:
            job.prepare(model, corpus, chosen.data, note)
            earlier = _earlier(job, chosen)
            check_names(earlier, shape.to_dict())
            _begin(model, shape.to_dict(), decided.keys(), earlier, note)
        if still := freeze(model, chosen.train.freeze):
            note(still)
        world.from_main(lambda: _write(folder, config, {**learned, **job.held_out(read)}))
        log = Log(folder.log if world.main else None, tensorboard)
        if fresh:
            log.clear()
            log.write("data", **job.summary(corpus, chosen.data), parameters=_size(model))
        if fresh and resume:
            note("there is no checkpoint yet: starting from the beginning")
        after = _draw(folder, note) if chosen.train.minutes and world.main else 0.0
        outcome = Loop(
            job.make_task(model, corpus, chosen),
            chosen.train,
            folder,
            world=world,
            progress=progress if world.main else None,
            log=log,
            spent=time.monotonic() - began,
            after=world.broadcast(after),
        ).run(not fresh, changed)
        if world.main:
            _draw(folder, note)
            if not outcome.interrupted:
                _report(folder, note)
        return outcome


def _resumed(job: Job[Any, Any, Any, Any, Any], folder: RunFolder, saved: Tree, new: Tree) -> Tree:
    """The saved settings with the given ones on top; a model named anew replaces the saved one."""
    if saved.get("task") != job.task:
        raise ConfigError(
            f"{str(folder.path)!r} is a run of 'regard train {saved.get('task')}', "
            f"not of 'regard train {job.task}'"
        )
    kept = {name: saved[name] for name in SECTIONS}
    if new.get("model", {}):
        kept["model"] = {"model": kept["model"]["model"]}
    return merged(kept, new)


def _check_able(
    job: Job[Data, Read, Corpus, Config, Model],
    settings: Settings[Data],
    world: World,
    tensorboard: bool,
) -> None:
    """Find out what is missing before any work is done."""
    if tensorboard and find_spec("tensorboard") is None:
        raise MissingExtraError("TensorBoard", "tensorboard")
    job.check_able(settings, world)
    files = [v for v in asdict(settings.data).values() if v == "-"]
    if len(files) > 1 or (files and world.size > 1):
        raise ConfigError("standard input (-) can be read once, by one process: give files")


def _learned(
    job: Job[Data, Read, Corpus, Config, Model],
    read: Read,
    settings: Settings[Data],
    folder: RunFolder,
    world: World,
) -> Files:
    """What the data teach, the same in every process; of a run that goes on, what they taught."""
    if len(set(world.collected(job.fingerprint(read)))) > 1:
        raise ConfigError("the processes of this run read different data: give all the same files")

    def learned() -> Files:
        files = [folder.path / name for name in job.learns]
        if all(file.exists() for file in files):
            return {file.name: file.read_text(encoding="utf-8") for file in files}
        earlier = _earlier(job, settings)
        return job.known(earlier[0]) if earlier else job.learn(read, settings.data)

    return world.from_main(learned)


def _earlier(
    job: Job[Data, Read, Corpus, Config, Model], settings: Settings[Data]
) -> tuple[RunFolder, Path] | None:
    """The run that this one begins with, if any, and the file of its weights."""
    start = settings.train.start
    if not start:
        return None
    run, file = _run_of(start, job.task)
    if (task := run.read_config().get("task")) != job.task:
        raise ConfigError(
            f"train.start (--from) {run.name!r} holds {kind_of(task)}, and this run trains "
            f"{kind_of(job.task)}"
        )
    return run, file


def _run_of(start: str, task: str) -> tuple[RunFolder, Path]:
    """The run that ``start`` names, or lies in, and the file of its weights."""
    if not os.path.isfile(start):
        run = RunFolder(find_folder(start, task))
        return run, run.model
    around = [RunFolder(path) for path in Path(start).absolute().parents]
    within = next((run for run in around if run.config.exists()), None)
    if within is None:
        raise ConfigError(
            f"train.start (--from) {start!r} is in no run folder, whose config and tokens say what "
            "its weights are of"
        )
    return within, Path(start)


def check_names(earlier: tuple[RunFolder, Path] | None, shape: Tree) -> None:
    """Raise if the weights to begin with tell other labels or actions apart than this data has:
    their numbers would fit, and stand for something else."""
    what = next((name for name in ("labels", "actions") if name in shape), None)
    if earlier is None or what is None:
        return
    old, new = (
        [str(name) for name in config.get(what, [])]
        for config in (earlier[0].read_config().get("model", {}), shape)
    )
    if old != new:
        shown = [", ".join(visible(name) for name in some[:8]) for some in (old, new)]
        more = ["…" if len(some) > 8 else "" for some in (old, new)]
        raise ConfigError(
            f"train.start (--from) {earlier[0].name!r} knows the {what} {shown[0]}{more[0]}, "
            f"and this data has {shown[1]}{more[1]}: name them alike and in the same order, or "
            "begin without --from"
        )


def _begin(
    model: nn.Module,
    shape: Tree,
    decided: Collection[str],
    earlier: tuple[RunFolder, Path] | None,
    note: Callable[[str], None],
) -> None:
    """Give the model the weights that it begins with; the data ``decided`` some of its shape."""
    if not earlier:
        return
    run, file = earlier
    what = f"the model of {run.name!r}" if file == run.model else repr(str(file))
    _check_design(run, what, shape)
    weights = unpacked(read_weights(file))
    larger = grown(model, weights)
    set_weights(model, larger, what)
    check_shape(run, what, shape, decided)
    new = sum(larger[name].numel() - weight.numel() for name, weight in weights.items())
    if new:
        note(f"{what} is grown: {new:,} parameters of wider feed-forward layers are new")


def _check_design(run: RunFolder, what: str, shape: Tree) -> None:
    """Raise if the weights are of another design, of which one that does not fit says little."""
    design = run.read_config().get("model", {}).get("model")
    if design != shape["model"]:
        raise ConfigError(
            f"{what} is of the design {design}, and this run's of {shape['model']}: give --model "
            f"{design}, or begin without --from"
        )


def check_shape(run: RunFolder, what: str, shape: Tree, decided: Collection[str]) -> None:
    """Raise if weights fit that were made for another computation: other heads, another window.

    What the data ``decided`` of the shape is of no account. A number that a config leaves out is 0.
    """
    old = run.read_config().get("model", {})
    for name in sorted((old.keys() | shape.keys()) - MAY_DIFFER - {*decided}):
        before, now = (each.get(name, LEFT_OUT.get(name, 0)) for each in (old, shape))
        if before != now:
            raise ConfigError(
                f"{what} has model.{name} {before}, and this run {now}: what it learned "
                f"would be computed with in another way; give --set model.{name}={before}"
            )


def _changed(job: Job[Any, Any, Any, Any, Any], folder: RunFolder, config: Tree) -> Tree:
    """The settings that this run may change and does; any other change is refused."""
    free = {*(f"train.{name}" for name in FREE), *(f"data.{name}" for name in job.paths), *MADE}
    changeable = [f"train.{name}" for name in CHANGEABLE]
    usual = {
        f"{section}.{field.name}": field.default
        for section, kind in (("data", job.data_config), ("train", TrainConfig))
        for field in fields(kind)
    }
    check_same(folder, config, free.union(changeable), usual)
    old, new = {**usual, **flat(folder.read_config())}, flat(config)
    return {name: new[name] for name in changeable if old.get(name) != new[name]}


def _config(
    job: Job[Data, Read, Corpus, Config, Model],
    settings: Settings[Data],
    shape: Config,
    fingerprint: str,
) -> Tree:
    """Everything that makes this run the run that it is."""
    return {
        "task": job.task,
        "data": asdict(settings.data),
        "model": shape.to_dict(),
        "train": asdict(settings.train),
        "made": {"regard": __version__, "torch": torch.__version__, job.reads: fingerprint},
    }


def _model(
    job: Job[Data, Read, Corpus, Config, Model],
    shape: Config,
    corpus: Corpus,
    settings: Settings[Data],
    note: Callable[[str], None],
) -> Model:
    """The model with the first weights that the seed decides; what it is trained on is said."""
    seed_all(settings.train.seed)
    model = job.build(shape)
    for line in job.notes(corpus, settings.data):
        note(line)
    note(f"{settings.model['model']}: {_size(model):,} parameters")
    return model


def _size(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def _write(folder: RunFolder, config: Tree, files: Files) -> None:
    """What a run folder holds before the first update."""
    folder.write_config(config)
    for name, content in files.items():
        write_text(folder.path / name, content)


def _report(folder: RunFolder, note: Callable[[str], None]) -> None:
    """Write the page of the run, which is no reason to lose it."""
    try:
        write_report(folder)
    except RegardError as error:
        note(f"no report: {error}")


def _draw(folder: RunFolder, note: Callable[[str], None]) -> float:
    """Draw the curves; the seconds that it took."""
    began = time.monotonic()
    try:
        draw_curves(folder.log, folder.curves)
    except RegardError as error:
        note(f"no picture of the curves: {error}")
    return time.monotonic() - began
