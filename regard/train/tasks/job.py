"""Job: a kind of training, from a tree of settings to a model in its run folder.

``regard train translate``, ``lm`` and ``classify`` are one each. A job knows its settings and its
data; :func:`train` is the same for all, and the :class:`~regard.train.run.loop.Loop` does the work.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from typing import Any, ClassVar, Protocol

import torch
from torch import nn

from regard import __version__
from regard.errors import ConfigError, MissingExtraError, RegardError, nearest
from regard.models.config import ModelConfig
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import RunFolder, set_weights
from regard.store.packing import unpacked
from regard.store.shipped import find_folder
from regard.train.config import TrainConfig
from regard.train.run.checkpoint import read_weights, seed_all
from regard.train.run.curves import draw_curves
from regard.train.run.distributed import World, joined
from regard.train.run.log import Log
from regard.train.run.loop import Loop, Outcome
from regard.train.run.progress import Progress
from regard.train.settings import Tree, complain, make, merged
from regard.train.tasks.task import Task

SECTIONS = ("data", "model", "train")


class TaskText(Protocol):
    """What a job reads: at least, it has a fingerprint."""

    @property
    def digest(self) -> str: ...


class TaskData(Protocol):
    """What a job trains on: at least, it has tokens."""

    @property
    def tokens(self) -> Tokenizer: ...


@dataclass(frozen=True)
class Settings:
    """All that the user decided, checked."""

    data: Any
    """The job's own data config."""
    model: Tree
    """Settings of the job's model config and perhaps ``size``."""
    train: TrainConfig


class Job(ABC):
    """What :func:`train` must know of a kind of training."""

    task: ClassVar[str]
    """Its name in config.json and after ``regard train``."""
    reads: ClassVar[str]
    """What the fingerprint in config.json is of."""
    data_config: ClassVar[type]
    model_config: ClassVar[type[ModelConfig]]
    usual_model: ClassVar[str]
    usual_epochs: ClassVar[int]
    undecided: ClassVar[Mapping[str, Any]] = {"vocabulary": 100}
    """What of the model only the data decides, with a value to check the rest by."""
    rounded: ClassVar[tuple[str, ...]] = ("transformer",)
    """The designs that can be trained with products in bfloat16."""

    @abstractmethod
    def recipe(self, model: Mapping[str, Any]) -> Tree:
        """Settings of TrainConfig that suit the model, where the user says nothing."""

    @abstractmethod
    def sized(self, model: str, size: str, **settings: Any) -> ModelConfig:
        """The config of a design in a named size."""

    @abstractmethod
    def build(self, config: Any) -> nn.Module:
        """The model with fresh weights."""

    @abstractmethod
    def read(self, data: Any) -> TaskText:
        """Read and divide the data; every process does."""

    @abstractmethod
    def learn(self, text: Any, data: Any) -> Tokenizer:
        """A vocabulary of the training part."""

    @abstractmethod
    def encode(self, text: Any, tokens: Tokenizer, data: Any) -> TaskData:
        """The data in tokens."""

    @abstractmethod
    def make_task(self, model: Any, corpus: Any, settings: Settings) -> Task:
        """The task for the loop."""

    @abstractmethod
    def summary(self, corpus: Any, data: Any) -> dict[str, Any]:
        """Figures of the data for the log."""

    @abstractmethod
    def print_summary(self, corpus: Any, data: Any, note: Callable[[str], None]) -> None:
        """What is trained on and what is left out, for the user."""

    @abstractmethod
    def write_parts(self, folder: RunFolder, corpus: Any) -> None:
        """Write what was not trained on."""

    def decided(self, corpus: Any) -> Tree:
        """What of the model only the data decides."""
        return {"vocabulary": len(corpus.tokens)}

    def prepare(self, model: Any, corpus: Any, data: Any, note: Callable[[str], None]) -> None:
        """Change the fresh weights of a run that begins."""
        return None

    def conflicts(self, settings: Settings) -> list[str]:
        """Problems between the sections."""
        return []

    def check_able(self, settings: Settings, world: World) -> None:
        """Raise if something that the run will need is missing."""
        return None

    def shaped(self, model: Mapping[str, Any], decided: Mapping[str, Any]) -> ModelConfig:
        """The model's config, once the data are known."""
        name = model["model"]
        rest = {k: v for k, v in model.items() if k not in ("model", "size", *decided)}
        if all(key in model for key in decided):  # a saved config: complete
            return self.model_config.from_dict({"model": name, **decided, **rest})
        return self.sized(name, model.get("size", "small"), **decided, **rest)

    def settle(self, tree: Mapping[str, Any]) -> Settings:
        """Check a tree of settings, sections data, model and train; every problem at once."""
        problems = [
            f"there is no section {name}{nearest(name, SECTIONS)}"
            for name in tree
            if name not in SECTIONS
        ]
        known = [field.name for field in fields(self.model_config)] + ["size"]
        model = {"model": self.usual_model} | tree.get("model", {})
        strange = [k for k in model if k not in known]
        problems += [f"there is no setting model.{k}{nearest(k, known)}" for k in strange]
        train = self.recipe(model) | tree.get("train", {})
        if not any(train.get(limit) for limit in ("epochs", "steps", "minutes")):
            train["epochs"] = self.usual_epochs
        data_config, data_problems = make(self.data_config, tree.get("data", {}), "data")
        train_config, train_problems = make(TrainConfig, train, "train")
        problems += data_problems + train_problems
        if data_config and train_config:
            problems += self.conflicts(Settings(data_config, model, train_config))
        if not strange:
            problems += self._model_problems(model)
        if train.get("precision") == "bfloat16" and model["model"] not in self.rounded:
            problems.append(
                f"train.precision bfloat16 is for {', '.join(self.rounded)}; {model['model']} "
                "is trained in float32"
            )
        complain(problems)
        assert train_config is not None
        return Settings(data_config, model, train_config)

    def _model_problems(self, model: Tree) -> list[str]:
        """What is wrong with the model's settings, found before any data is read."""
        try:
            self.shaped(model, self.undecided)
        except ConfigError as error:
            return [str(error)]
        return []


def train(
    job: Job,
    settings: Tree,
    output: str,
    *,
    resume: bool = False,
    tensorboard: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Train a model into the run folder ``output``. Called by every process of a run."""
    began = time.monotonic()
    folder = RunFolder(output)
    with joined(str(settings.get("train", {}).get("device", "auto"))) as world:
        progress = progress if progress and world.main else Progress()
        if resume:
            settings = _resumed(job, folder, world.from_main(folder.read_config), settings)
        else:
            world.from_main(folder.check_new)
        chosen = job.settle(settings)
        _check_able(job, chosen, world, tensorboard)
        if chosen.train.threads:
            torch.set_num_threads(chosen.train.threads)
        text = job.read(chosen.data)
        corpus = _corpus(job, text, chosen, folder, world)
        model_config = job.shaped(chosen.model, job.decided(corpus))
        config = {
            "task": job.task,
            "data": asdict(chosen.data),
            "model": model_config.to_dict(),
            "train": asdict(chosen.train),
            "made": {
                "regard": __version__,
                "torch": torch.__version__,
                job.reads: text.digest,
            },
        }
        seed_all(chosen.train.seed)
        model = job.build(model_config)
        job.print_summary(corpus, chosen.data, progress.note)
        numbers = sum(p.numel() for p in model.parameters())
        progress.note(f"{chosen.model['model']}: {numbers:,} parameters")
        if not resume:
            job.prepare(model, corpus, chosen.data, progress.note)
            if earlier := _earlier(job, chosen):
                weights = unpacked(read_weights(earlier.model))
                set_weights(model, weights, f"the model of {str(chosen.train.start)!r}")
        world.from_main(lambda: _open(job, folder, config, corpus, resume))
        with folder.locked() if world.main else nullcontext():
            log = Log(folder.log if world.main else None, tensorboard)
            if not resume:
                log.write("data", **job.summary(corpus, chosen.data), parameters=numbers)
            loop = Loop(
                job.make_task(model, corpus, chosen),
                chosen.train,
                folder,
                world=world,
                progress=progress,
                log=log,
                spent=time.monotonic() - began,
            )
            outcome = loop.run(resume)
            if world.main:
                _draw(folder, progress)
            return outcome


def _resumed(job: Job, folder: RunFolder, saved: Tree, settings: Tree) -> Tree:
    """The saved settings with the given ones on top; a model named anew replaces the saved one."""
    if saved.get("task") != job.task:
        raise ConfigError(
            f"{str(folder.path)!r} is a run of 'regard train {saved.get('task')}', "
            f"not of 'regard train {job.task}'"
        )
    kept = {name: saved[name] for name in SECTIONS}
    if settings.get("model", {}):
        kept["model"] = {"model": kept["model"]["model"]}
    return merged(kept, settings)


def _check_able(job: Job, settings: Settings, world: World, tensorboard: bool) -> None:
    """Find out what is missing before any work is done."""
    if tensorboard and find_spec("tensorboard") is None:
        raise MissingExtraError("TensorBoard", "tensorboard")
    job.check_able(settings, world)
    files = [v for v in asdict(settings.data).values() if v == "-"]
    if len(files) > 1 or (files and world.size > 1):
        raise ConfigError("standard input (-) can be read once, by one process: give files")


def _corpus(
    job: Job, text: TaskText, settings: Settings, folder: RunFolder, world: World
) -> TaskData:
    """The corpus, the same in every process."""
    if len(set(world.collected(text.digest))) > 1:
        raise ConfigError("the processes of this run read different data: give all the same files")

    def vocabulary() -> str:
        known = folder if folder.tokens.exists() else _earlier(job, settings)
        tokens = Tokenizer.load(known.tokens) if known else job.learn(text, settings.data)
        return tokens.to_text()

    return job.encode(text, Tokenizer.from_text(world.from_main(vocabulary)), settings.data)


def _earlier(job: Job, settings: Settings) -> RunFolder | None:
    """The run whose weights and tokens this one begins with, if any."""
    start = settings.train.start
    return RunFolder(find_folder(start, job.task)) if start else None


def _open(
    job: Job, folder: RunFolder, config: Mapping[str, Any], corpus: TaskData, resume: bool
) -> None:
    """Make the run folder, or make sure that it is this run's."""
    if resume:
        folder.check_same(config)
    else:
        folder.check_new()
    folder.write_config(config)
    corpus.tokens.save(folder.tokens)
    job.write_parts(folder, corpus)


def too_long(settings: Settings) -> list[str]:
    """A problem if the longest sentence that is trained on does not fit into a batch."""
    most, room = settings.data.max_length, settings.train.batch_tokens
    if most + 2 <= room:
        return []
    return [
        f"train.batch_tokens ({room}) must hold a sentence of data.max_length ({most}) tokens "
        "and 2 more"
    ]


def _draw(folder: RunFolder, progress: Progress) -> None:
    try:
        draw_curves(folder.log, folder.curves)
    except RegardError as error:
        progress.note(f"no picture of the curves: {error}")
