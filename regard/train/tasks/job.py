"""Job: a kind of training, from a tree of settings to a model in its run folder.

``regard train translate``, ``lm`` and ``classify`` are one each. A job knows how its data is read,
divided, encoded and counted, and what its model is; :func:`train` is the same for all, and the
:class:`~regard.train.run.loop.Loop` does the work. Nothing here knows of text or tokens: what a
job learns from its data before the model is made (a vocabulary, or nothing) is its own business.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import torch
from torch import nn

from regard import __version__
from regard.errors import ConfigError, MissingExtraError, RegardError, nearest
from regard.files import write_text
from regard.models.config import ModelConfig
from regard.store.folder import RunFolder
from regard.train.config import FREE, TrainConfig
from regard.train.run.distributed import World, joined
from regard.train.run.folder import check_same, claimed
from regard.train.run.log import Log, draw_curves
from regard.train.run.loop import Loop
from regard.train.run.progress import Outcome, Progress
from regard.train.run.state import seed_all
from regard.train.settings import Tree, complain, make, merged
from regard.train.tasks.task import Task

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SECTIONS = ("data", "model", "train")
Data = TypeVar("Data", bound="DataclassInstance")
"""The job's data config."""
Read = TypeVar("Read")
"""What the data are, read and divided."""
Corpus = TypeVar("Corpus")
"""What is trained on: the same, encoded."""
Config = TypeVar("Config", bound=ModelConfig)
Model = TypeVar("Model", bound=nn.Module)
Files = Mapping[str, str]
"""Files of the run folder: name to content."""


@dataclass(frozen=True)
class Settings(Generic[Data]):
    """All that the user decided, checked."""

    data: Data
    """The job's own data config."""
    model: Tree
    """Settings of the job's model config and perhaps ``size``."""
    train: TrainConfig


class Job(ABC, Generic[Data, Read, Corpus, Config, Model]):
    """What :func:`train` must know of a kind of training."""

    task: ClassVar[str]
    """Its name in config.json and after ``regard train``."""
    reads: ClassVar[str]
    """What the fingerprint in config.json is of."""
    usual_model: ClassVar[str]
    usual_epochs: ClassVar[int]
    undecided: ClassVar[Mapping[str, Any]] = {}
    """What of the model only the data decides, with a value to check the rest by."""
    paths: ClassVar[Iterable[str]] = ()
    """Settings of the data that name files: these may be elsewhere when a run is resumed."""
    learns: ClassVar[Iterable[str]] = ()
    """The files that :meth:`learn` gives."""
    data_config: type[Data]
    model_config: type[Config]

    @abstractmethod
    def recipe(self, model: Mapping[str, Any]) -> Tree:
        """Settings of TrainConfig that suit the model, where the user says nothing."""

    @abstractmethod
    def sized(self, model: str, size: str, **settings: Any) -> Config:
        """The config of a design in a named size."""

    @abstractmethod
    def build(self, config: Config) -> Model:
        """The model with fresh weights."""

    @abstractmethod
    def read(self, data: Data) -> Read:
        """Read and divide the data; every process does."""

    @abstractmethod
    def fingerprint(self, read: Read) -> str:
        """Equal for equal data."""

    @abstractmethod
    def encode(self, read: Read, learned: Files, data: Data) -> Corpus:
        """The data as they are trained on."""

    @abstractmethod
    def make_task(self, model: Model, corpus: Corpus, settings: Settings[Data]) -> Task:
        """The task for the loop."""

    @abstractmethod
    def summary(self, corpus: Corpus, data: Data) -> dict[str, Any]:
        """Figures of the data for the log."""

    @abstractmethod
    def notes(self, corpus: Corpus, data: Data) -> Iterable[str]:
        """What is trained on and what is left out, for the user, a line each."""

    def learn(self, read: Read, data: Data) -> Files:
        """What the training part teaches before the model is made, such as a vocabulary."""
        return {}

    def held_out(self, read: Read) -> Files:
        """What is not trained on, to be tested on later."""
        return {}

    def decided(self, corpus: Corpus) -> Tree:
        """What of the model only the data decides."""
        return {}

    def prepare(
        self, model: Model, corpus: Corpus, data: Data, note: Callable[[str], None]
    ) -> None:
        """Change the fresh weights of a run that begins."""
        return None

    def conflicts(self, settings: Settings[Data]) -> list[str]:
        """Problems between the sections."""
        return []

    def check_able(self, settings: Settings[Data], world: World) -> None:
        """Raise if something that the run will need is missing."""
        return None

    def shaped(self, model: Mapping[str, Any], decided: Mapping[str, Any]) -> Config:
        """The model's config, once the data are known."""
        name = model["model"]
        rest = {k: v for k, v in model.items() if k not in ("model", "size", *decided)}
        if all(key in model for key in decided):  # a saved config: complete
            return self.model_config.from_dict({"model": name, **decided, **rest})
        return self.sized(name, model.get("size", "small"), **decided, **rest)

    def settle(self, tree: Mapping[str, Any]) -> Settings[Data]:
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
        complain(problems)
        assert data_config is not None
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
    job: Job[Data, Read, Corpus, Config, Model],
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
    with joined(str(settings.get("train", {}).get("device", "auto"))) as world, ExitStack() as held:
        note = progress.note if progress and world.main else Progress().note
        world.from_main(lambda: held.enter_context(claimed(folder, resume)))
        if resume:
            settings = _resumed(job, folder, world.from_main(folder.read_config), settings)
        chosen = job.settle(settings)
        _check_able(job, chosen, world, tensorboard)
        if chosen.train.threads:
            torch.set_num_threads(chosen.train.threads)
        read = job.read(chosen.data)
        learned = _learned(job, read, chosen, folder, world)
        corpus = job.encode(read, learned, chosen.data)
        shape = job.shaped(chosen.model, job.decided(corpus))
        config = _config(job, chosen, shape, job.fingerprint(read))
        if resume:
            free = [*(f"train.{k}" for k in FREE), *(f"data.{k}" for k in job.paths), *MADE]
            world.from_main(lambda: check_same(folder, config, free))
        model = _model(job, shape, corpus, chosen, note)
        if not resume:
            job.prepare(model, corpus, chosen.data, note)
        world.from_main(lambda: _write(folder, config, {**learned, **job.held_out(read)}))
        log = Log(folder.log if world.main else None, tensorboard)
        if not resume:
            log.write("data", **job.summary(corpus, chosen.data), parameters=_size(model))
        outcome = Loop(
            job.make_task(model, corpus, chosen),
            chosen.train,
            folder,
            world=world,
            progress=progress if world.main else None,
            log=log,
            spent=time.monotonic() - began,
        ).run(resume)
        if world.main:
            _draw(folder, note)
        return outcome


MADE = ("made.regard", "made.torch")
"""By which versions a run was begun; later ones may go on with it."""


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
        return job.learn(read, settings.data)

    return world.from_main(learned)


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


def _draw(folder: RunFolder, note: Callable[[str], None]) -> None:
    try:
        draw_curves(folder.log, folder.curves)
    except RegardError as error:
        note(f"no picture of the curves: {error}")
