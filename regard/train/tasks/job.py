"""Job: a kind of training; ``regard train translate``, ``lm`` and ``classify`` are one each.

A job knows how its data is read, divided, encoded and counted, and what its model is;
:func:`~regard.train.run.start.train` is the same for all. Nothing here knows of text or tokens:
what a job learns from its data before the model is made (a vocabulary, or nothing) is its own
business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from torch import nn

from regard.errors import ConfigError, nearest
from regard.models.config import ModelConfig
from regard.store.folder import RunFolder
from regard.train.config import TrainConfig
from regard.train.run.distributed import World
from regard.train.settings import Tree, complain, make
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
    """What :func:`~regard.train.run.start.train` must know of a kind of training."""

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
    rounded: ClassVar[tuple[str, ...]] = ("transformer",)
    """The designs that can be trained with products in bfloat16."""
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

    def known(self, folder: RunFolder) -> Files:
        """The same, as the run in ``folder`` has it."""
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

    def conflicts_of_new(self, settings: Settings[Data]) -> list[str]:
        """What else a run may not begin with; one that was begun so may go on."""
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

    def settle(self, tree: Mapping[str, Any], *, begun: bool = False) -> Settings[Data]:
        """Check a tree of settings, sections data, model and train; every problem at once.

        ``begun``: they are those of a run that was begun before.
        """
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
            settings = Settings(data_config, model, train_config)
            problems += self.conflicts(settings)
            problems += [] if begun else self.conflicts_of_new(settings)
        if not strange:
            problems += self._model_problems(model)
        if train.get("precision") == "bfloat16" and model["model"] not in self.rounded:
            problems.append(
                f"train.precision bfloat16 is for {', '.join(self.rounded)}; {model['model']} "
                "is trained in float32"
            )
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
