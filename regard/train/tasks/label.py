"""The task of labelling: a label for each piece, a Labeller, and the share that it gets right.

What the pieces are (words, patches, steps) is known by the job alone; the task sees batches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import DataError
from regard.files import name_of
from regard.models.guesses import WordGuesses
from regard.models.labeller import NO_LABEL, Labeller, LabellerConfig, sized_labeller
from regard.pieces.text import word_numbers
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import BASELINES, TOKENS, RunFolder
from regard.text import visible
from regard.train.config import TrainConfig
from regard.train.data.batches import padded, plan
from regard.train.data.config import TaggedConfig
from regard.train.data.corpus import TokenCorpus
from regard.train.data.examples import Dataset, divided
from regard.train.data.tagged import Tagged, check_tags, read_tagged, tags_of
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Settings
from regard.train.tasks.textjob import TextJob

RATES = {
    "alone": 5e-3,
    "conv": 3e-3,
    "simple-rnn": 1e-3,
    "simple-rnn+attention": 1e-3,
    "lstm": 3e-3,
    "lstmn": 3e-3,
    "transformer": 3e-3,
}
"""The learning rate that suits a design, where the user says nothing."""
USUAL: Tree = {"warmup": 100, "batch_tokens": 1000, "smoothing": 0.0, "schedule": "cosine"}
"""The same for all of them."""
MENTIONED = 12
"""Labels that are named before a run begins."""


class LabelBatch(NamedTuple):
    """Examples of one batch, as a :class:`Labeller` takes them."""

    pieces: Tensor
    lengths: Tensor
    labels: Tensor
    """(B, m), NO_LABEL behind the end."""
    words: Tensor | None = None

    def to(self, device: torch.device) -> LabelBatch:
        """The same on another device."""
        return LabelBatch(*(None if t is None else t.to(device) for t in self))  # type: ignore[arg-type]


class LabelledParts(Protocol):
    """Examples of one part, whatever their pieces are."""

    @property
    def lengths(self) -> Sequence[tuple[int, ...]]:
        """How many pieces each has."""

    @property
    def labels(self) -> Sequence[Sequence[int]] | NDArray[np.int64]:
        """The right labels of each, by number."""

    def batch(self, rows: Sequence[int]) -> LabelBatch:
        """Those of these numbers."""


def recipe(model: Mapping[str, Any]) -> Tree:
    """Settings of TrainConfig that suit a labeller, where the user says nothing."""
    return USUAL | {"learning_rate": RATES.get(str(model["model"]), 1e-3)}


class Labelling:
    """A labeller in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    score = "accuracy"
    higher = True

    def __init__(
        self, model: Labeller, train: LabelledParts, valid: LabelledParts, config: TrainConfig
    ) -> None:
        self.model, self.train, self.valid, self.config = model, train, valid, config
        self.counts = np.array([len(labels) for labels in train.labels])

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(
            self.train.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch
        )

    def targets(self, rows: list[int]) -> int:
        return int(self.counts[rows].sum())

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss(self.train, rows, smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss(self.valid, rows, 0.0)

    def _loss(self, part: LabelledParts, rows: list[int], smoothing: float) -> Tensor:
        batch = part.batch(rows).to(self.model.device)
        return self.model.loss(*batch, smoothing=smoothing)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        labels = np.concatenate([np.array(each) for each in self.valid.labels])
        many = self.config.batch_tokens
        total = sum(float(forward(rows)) for rows in _batches(self.valid, many))
        figures = {"loss": total / len(labels)}
        if decode:
            said = np.concatenate(said_labels(self.model, self.valid, many))
            figures["score"] = 100 * float((said == labels).mean())
        return figures


@torch.no_grad()
def said_labels(
    model: Labeller, part: LabelledParts, batch_tokens: int = 4000
) -> list[NDArray[np.int64]]:
    """The number of the label that the model gives each piece (or word) of each example."""
    found: list[NDArray[np.int64]] = [np.zeros(0, np.int64)] * len(part.lengths)
    for rows in _batches(part, batch_tokens):
        pieces, lengths, _, words = part.batch(rows).to(model.device)
        said = model(pieces, lengths, words).argmax(-1).cpu().numpy()
        for row, labels in zip(rows, said, strict=True):
            found[row] = labels[: len(part.labels[row])]
    return found


def _batches(part: LabelledParts, tokens: int) -> Iterator[list[int]]:
    yield from plan(part.lengths, max(tokens, *(max(each) for each in part.lengths)))


class TaggedTokens:
    """Sentences in tokens, with the word that each token is of and the label of each word."""

    def __init__(
        self,
        rows: Sequence[Tagged],
        ids: Sequence[list[int]],
        tokens: Tokenizer,
        labels: Sequence[str],
    ) -> None:
        place = {label: i for i, label in enumerate(labels)}
        self.ids = ids
        self.words = word_numbers(tokens, [row.words for row in rows])
        self.lengths = [(len(each),) for each in ids]
        self.labels = [[place[label] for label in row.labels] for row in rows]

    def batch(self, rows: Sequence[int]) -> LabelBatch:
        ids, lengths = padded([self.ids[row] for row in rows])
        words, _ = padded([self.words[row] for row in rows])
        words[_behind(words, lengths)] = -1
        labels, counts = padded([self.labels[row] for row in rows])
        labels[_behind(labels, counts)] = NO_LABEL
        return LabelBatch(ids, lengths, labels, words)


def _behind(table: Tensor, lengths: Tensor) -> Tensor:
    """Which cells of a padded table (B, n) stand behind the end of their row."""
    return torch.arange(table.shape[1]) >= lengths.unsqueeze(-1)


class LabelWords(TextJob[TaggedConfig, Tagged, LabellerConfig, Labeller]):
    """``regard train label --data``."""

    task = "label"
    reads = "file"
    data_config = TaggedConfig
    model_config = LabellerConfig
    usual_model = "transformer"
    usual_epochs = 10
    undecided: ClassVar[Mapping[str, Any]] = {"vocabulary": 100, "labels": ("0", "1")}
    learns: ClassVar[Iterable[str]] = (TOKENS, BASELINES)

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return recipe(model)

    def sized(self, model: str, size: str, **settings: Any) -> LabellerConfig:
        return sized_labeller(model, size, **settings)

    def build(self, config: LabellerConfig) -> Labeller:
        return Labeller(config)

    def read(self, data: TaggedConfig) -> Dataset[Tagged]:
        assert data.file is not None, "TaggedConfig checks this"
        main = read_tagged(data.file, data.column)
        labels = tags_of(main.rows)
        check_several(labels, data.file)
        valid, test = (
            read_tagged(path, data.column) if path else None for path in (data.valid, data.test)
        )
        for path, part in ((data.valid, valid), (data.test, test)):
            if part and path:
                check_tags(part.rows, labels, path)
        return divided(main, valid, test, data)

    def learn(self, read: Dataset[Tagged], data: TaggedConfig) -> Files:
        place = {label: i for i, label in enumerate(all_tags(read))}
        pairs = (pair for row in read.train for pair in zip(row.words, row.labels, strict=True))
        guesses = WordGuesses.of((word, place[label]) for word, label in pairs)
        return {**super().learn(read, data), BASELINES: guesses.to_text()}

    def known(self, folder: RunFolder) -> Files:
        return {**super().known(folder), BASELINES: folder.read_baselines()}

    def decided(self, corpus: TokenCorpus[Tagged]) -> Tree:
        return super().decided(corpus) | {"labels": tuple(all_tags(corpus.data))}

    def make_task(
        self, model: Labeller, corpus: TokenCorpus[Tagged], settings: Settings[TaggedConfig]
    ) -> Labelling:
        train, valid = (
            TaggedTokens(rows, [texts[0] for texts in ids], corpus.tokens, model.config.labels)
            for rows, ids in ((corpus.examples, corpus.train), (corpus.data.valid, corpus.valid))
        )
        return Labelling(model, train, valid, settings.train)

    def summary(self, corpus: TokenCorpus[Tagged], data: TaggedConfig) -> dict[str, Any]:
        return super().summary(corpus, data) | {"labels": dict(_counts(corpus).most_common())}

    def notes(self, corpus: TokenCorpus[Tagged], data: TaggedConfig) -> Iterable[str]:
        first, *others = super().notes(corpus, data)
        yield first
        yield labels_line(_counts(corpus), "words")
        yield from others


def check_several(labels: Sequence[str], path: str) -> None:
    """Raise unless there is something to tell apart."""
    if len(labels) < 2:
        raise DataError(
            f"{name_of(path)} has one label, {labels[0]!r}: there is nothing to tell apart"
        )


def all_tags(data: Dataset[Tagged]) -> list[str]:
    """The labels of all parts: no file of its own has one that training has not."""
    return tags_of([*data.train, *data.valid, *data.test])


def labels_line(counts: Counter[str], what: str, are: str = "labels") -> str:
    """``17 labels of 9,000 words: NOUN (3,000), …``, the commonest first."""
    named = ", ".join(f"{visible(k)} ({n:,})" for k, n in counts.most_common(MENTIONED))
    more = ", …" if len(counts) > MENTIONED else ""
    return f"{len(counts)} {are} of {counts.total():,} {what}: {named}{more}"


def _counts(corpus: TokenCorpus[Tagged]) -> Counter[str]:
    return Counter(label for row in corpus.examples for label in row.labels)
