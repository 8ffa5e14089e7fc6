"""The task of labelling pieces that are numbers: patches of images, steps of series."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import DataError
from regard.models.guesses import LinearGuesses
from regard.models.images import cut, usual_patch
from regard.models.labeller import Labeller, LabellerConfig, sized_labeller
from regard.store.folder import BASELINES, RunFolder
from regard.text import number_of, visible
from regard.train.data.scenes import Scenes, read_scenes
from regard.train.data.split import Part
from regard.train.data.states import DividedStates, divided_states
from regard.train.data.thingconfig import ScenesConfig, StatesConfig
from regard.train.settings import Tree
from regard.train.tasks.images import DividedImages, as_input, divided
from regard.train.tasks.job import Files, Job, Settings
from regard.train.tasks.label import LabelBatch, Labelling, labels_line, recipe

AT_ONCE = 512
"""Examples that the linear map is fitted to at once."""


class NumberPieces:
    """Examples of equally many pieces, each of some numbers, with a label each."""

    def __init__(self, labels: NDArray[np.int64], take: Callable[[Sequence[int]], Tensor]) -> None:
        """``labels`` (N, n); ``take`` gives the pieces (B, n, numbers) of these rows."""
        self.labels, self.take = labels, take
        self.lengths = [(labels.shape[1],)] * len(labels)

    def batch(self, rows: Sequence[int]) -> LabelBatch:
        lengths = torch.full((len(rows),), self.labels.shape[1])
        return LabelBatch(self.take(rows), lengths, torch.from_numpy(self.labels[list(rows)]))

    def fitted(self, labels: int) -> LinearGuesses:
        """The best linear map from a piece to its label."""
        count = len(self.labels)
        chunks = [range(i, min(count, i + AT_ONCE)) for i in range(0, count, AT_ONCE)]
        pairs = ((self.take(rows).numpy(), self.labels[list(rows)]) for rows in chunks)
        flat = ((x.reshape(-1, x.shape[-1]), right.ravel()) for x, right in pairs)
        return LinearGuesses.of(flat, labels)

    def guessed(self, guesses: LinearGuesses) -> list[NDArray[np.int64]]:
        """What a linear map says of each piece, of each example."""
        return [guesses.say(self.take([row]).numpy()[0]) for row in range(len(self.labels))]


class DividedScenes(NamedTuple):
    """Images with a class for each pixel, to train, to validate and to test on."""

    images: DividedImages[Scenes]
    side: int
    """Pixels on a side of a patch."""

    @property
    def labels(self) -> list[str]:
        """The classes that training knows."""
        return self.images.labels


Held = TypeVar("Held", ScenesConfig, StatesConfig)
Found = TypeVar("Found", DividedScenes, DividedStates)


class LabelPieces(Job[Held, Found, Found, LabellerConfig, Labeller]):
    """What labellers of numbers have in common."""

    model_config = LabellerConfig
    usual_model = "transformer"
    usual_epochs = 10
    learns: ClassVar[Iterable[str]] = (BASELINES,)
    what: ClassVar[str]
    """What is labelled."""

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return recipe(model)

    def sized(self, model: str, size: str, **settings: Any) -> LabellerConfig:
        return sized_labeller(model, size, **settings)

    def build(self, config: LabellerConfig) -> Labeller:
        return Labeller(config)

    def encode(self, read: Found, learned: Files, data: Held) -> Found:
        return read

    def known(self, folder: RunFolder) -> Files:
        return {BASELINES: folder.read_baselines()}

    @abstractmethod
    def pieces(self, read: Found, part: Part) -> NumberPieces:
        """The examples of a part."""

    def learn(self, read: Found, data: Held) -> Files:
        fitted = self.pieces(read, "train").fitted(len(read.labels))
        return {BASELINES: fitted.to_text()}

    def make_task(self, model: Labeller, corpus: Found, settings: Settings[Held]) -> Labelling:
        train, valid = self.pieces(corpus, "train"), self.pieces(corpus, "valid")
        return Labelling(model, train, valid, settings.train)

    def summary(self, corpus: Found, data: Held) -> dict[str, Any]:
        parts: tuple[Part, ...] = ("train", "valid", "test")
        counts = {part: len(self.pieces(corpus, part).labels) for part in parts}
        return counts | {"labels": dict(self._counts(corpus).most_common())}

    def notes(self, corpus: Found, data: Held) -> Iterable[str]:
        yield self.about(corpus)
        yield labels_line(self._counts(corpus), self.what)

    def _counts(self, corpus: Found) -> Counter[str]:
        numbers = np.bincount(self.pieces(corpus, "train").labels.ravel())
        return Counter({corpus.labels[i]: n for i, n in enumerate(numbers.tolist()) if n})

    @abstractmethod
    def about(self, corpus: Found) -> str:
        """What is trained on, for the user."""


class LabelPatches(LabelPieces[ScenesConfig, DividedScenes]):
    """``regard train label --images``."""

    task = "label-images"
    reads = "images"
    what = "patches"
    data_config = ScenesConfig
    undecided: ClassVar[Mapping[str, Any]] = {
        "channels": 1,
        "places": 16,
        "patch": 2,
        "columns": 4,
        "labels": ("0", "1"),
    }
    paths: ClassVar[Iterable[str]] = ("images", "valid", "test")

    def read(self, data: ScenesConfig) -> DividedScenes:
        return divided_scenes(data)

    def fingerprint(self, read: DividedScenes) -> str:
        return read.images.digest

    def decided(self, corpus: DividedScenes) -> Tree:
        _, rows, columns, channels = corpus.images.train.pixels.shape
        across = columns // corpus.side
        return {
            "channels": channels,
            "patch": corpus.side,
            "columns": across,
            "places": rows // corpus.side * across,
            "labels": tuple(corpus.labels),
        }

    def pieces(self, read: DividedScenes, part: Part) -> NumberPieces:
        return patch_pieces(getattr(read.images, part), read.side, read.labels)

    def about(self, corpus: DividedScenes) -> str:
        images, side = corpus.images, corpus.side
        _, rows, columns, _ = images.train.pixels.shape
        return (
            f"{number_of(len(images.train), 'image')} to train on, {len(images.valid):,} to "
            f"validate, {len(images.test):,} to test; {columns} x {rows} pixels, in patches of "
            f"{side} x {side}"
        )


def divided_scenes(data: ScenesConfig) -> DividedScenes:
    """Read and divide; the user's own validation and test files are kept whole."""
    assert data.images is not None, "ScenesConfig checks this"
    found = divided(data, data.images, read_scenes, "images")
    _, rows, columns, _ = found.train.pixels.shape
    side = data.patch or usual_patch(rows, columns)
    if rows % side or columns % side:
        raise DataError(
            f"a patch must divide the image, {rows} x {columns} pixels; data.patch is {side}"
        )
    return DividedScenes(found, side)


def patch_pieces(scenes: Scenes, side: int, labels: Sequence[str]) -> NumberPieces:
    """The patches of scenes, with the numbers that their labels have in ``labels``."""
    number = np.array([labels.index(n) if n in labels else -1 for n in scenes.names], np.int64)

    def take(rows: Sequence[int]) -> Tensor:
        return cut(as_input(scenes.pixels[list(rows)]), (side, side))

    return NumberPieces(number[scenes.patches(side)], take)


class LabelSteps(LabelPieces[StatesConfig, DividedStates]):
    """``regard train label --series``."""

    task = "label-series"
    reads = "series"
    what = "steps"
    data_config = StatesConfig
    undecided: ClassVar[Mapping[str, Any]] = {"channels": 1, "places": 32, "labels": ("0", "1")}
    paths: ClassVar[Iterable[str]] = ("series",)

    def read(self, data: StatesConfig) -> DividedStates:
        return divided_states(data)

    def fingerprint(self, read: DividedStates) -> str:
        return read.digest()

    def decided(self, corpus: DividedStates) -> Tree:
        channels = len(corpus.series.channels)
        return {"channels": channels, "places": corpus.context, "labels": tuple(corpus.labels)}

    def pieces(self, read: DividedStates, part: Part) -> NumberPieces:
        return step_pieces(read, read.labels, read.starts(part))

    def prepare(
        self,
        model: Labeller,
        corpus: DividedStates,
        data: StatesConfig,
        note: Callable[[str], None],
    ) -> None:
        model.set_scale(*corpus.scale())

    def about(self, corpus: DividedStates) -> str:
        series, clock = corpus.series, corpus.series.clock
        names = ", ".join(visible(name) for name in series.channels[:8])
        return (
            f"{len(series):,} steps of {names}: to train until "
            f"{visible(clock.name(corpus.valid - 1))}, to validate until "
            f"{visible(clock.name(corpus.test - 1))}, then to test; "
            f"{corpus.context} are read at once"
        )


def step_pieces(data: DividedStates, labels: Sequence[str], starts: Sequence[int]) -> NumberPieces:
    """The windows of a series that begin at ``starts``, with the numbers of their states."""
    numbers = np.array([labels.index(state) for state in data.states])
    steps = np.array(starts)[:, np.newaxis] + np.arange(data.context)

    def take(rows: Sequence[int]) -> Tensor:
        return torch.from_numpy(data.series.values[steps[list(rows)]]).float()

    return NumberPieces(numbers[steps], take)
