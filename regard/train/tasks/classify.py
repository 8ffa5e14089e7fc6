"""The task of classification: labelled sentences, a Classifier, and its accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError, DataError
from regard.files import name_of
from regard.models.classifier import Classifier, ClassifierConfig, Decision, sized
from regard.pieces.tokenizer import START, Tokenizer
from regard.text import visible
from regard.train.config import TrainConfig
from regard.train.data.batches import padded, plan
from regard.train.data.config import LABELLED, LabelledConfig, named_columns
from regard.train.data.corpus import TokenCorpus
from regard.train.data.examples import Dataset, divided
from regard.train.data.labelled import Labelled, check_labels, labels_of, read_labelled
from regard.train.settings import Tree
from regard.train.tasks.job import Settings
from regard.train.tasks.textjob import TextJob
from regard.vectors.words import Words

RECIPES: dict[str, Tree] = {
    "words": {"learning_rate": 3e-3},
    "simple-rnn": {"learning_rate": 5e-4},
    "simple-rnn+attention": {"learning_rate": 5e-4},
    "lstm": {"learning_rate": 1e-3},
    "lstmn": {"learning_rate": 1e-3},
    "transformer": {"learning_rate": 5e-4},
}
"""Settings of TrainConfig that suit a design, where the user says nothing."""
USUAL: Tree = {"warmup": 100, "batch_tokens": 1000, "smoothing": 0.0}
"""The same for all of them."""


class Classification:
    """A classifier in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    score = "accuracy"
    higher = True

    def __init__(
        self, model: Classifier, corpus: TokenCorpus[Labelled], config: TrainConfig
    ) -> None:
        self.model, self.config = model, config
        self.train = [ids for (ids,) in corpus.train]
        self.valid = [ids for (ids,) in corpus.valid]
        place = {label: i for i, label in enumerate(model.config.labels)}
        self.train_labels = [place[row.label] for row in corpus.examples]
        self.valid_labels = [place[row.label] for row in corpus.data.valid]
        self.lengths = [(len(ids),) for ids in self.train]

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return len(rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss(self.train, self.train_labels, rows, smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss(self.valid, self.valid_labels, rows, 0.0)

    def _loss(
        self, sentences: list[list[int]], labels: list[int], rows: list[int], smoothing: float
    ) -> Tensor:
        device = self.model.words.device
        ids, lengths = padded([sentences[row] for row in rows])
        right = torch.tensor([labels[row] for row in rows], device=device)
        return self.model.loss(ids.to(device), lengths.to(device), right, smoothing)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        valid, labels = self.valid, self.valid_labels
        total = sum(float(forward(rows)) for rows in _batches(valid, self.config.batch_tokens))
        figures = {"loss": total / len(valid)}
        if decode:
            said = [int(d.logits.argmax()) for d in decide(self.model, valid)]
            figures["score"] = 100 * float(np.mean(np.array(said) == np.array(labels)))
        return figures


class Classify(TextJob[LabelledConfig, Labelled, ClassifierConfig, Classifier]):
    """``regard train classify``."""

    task = "classify"
    reads = "file"
    data_config = LabelledConfig
    model_config = ClassifierConfig
    usual_model = "lstmn"
    usual_epochs = 20
    undecided: ClassVar[Mapping[str, Any]] = {"vocabulary": 100, "labels": ("0", "1")}

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return USUAL | RECIPES.get(str(model["model"]), {})

    def sized(self, model: str, size: str, **settings: Any) -> ClassifierConfig:
        return sized(model, size, **settings)

    def build(self, config: ClassifierConfig) -> Classifier:
        return Classifier(config)

    def read(self, data: LabelledConfig) -> Dataset[Labelled]:
        assert data.file is not None, "LabelledConfig checks this"
        columns = list(named_columns(data.columns, *LABELLED).values())
        main = read_labelled(data.file, columns)
        labels = labels_of(main.rows)
        if len(labels) < 2:
            raise DataError(
                f"{name_of(data.file)} has one label, {labels[0]!r}: there is nothing to tell apart"
            )
        valid, test = (
            read_labelled(path, columns) if path else None for path in (data.valid, data.test)
        )
        for path, part in ((data.valid, valid), (data.test, test)):
            if part and path:
                check_labels(part.rows, labels, path)
        return divided(main, valid, test, data)

    def decided(self, corpus: TokenCorpus[Labelled]) -> Tree:
        return super().decided(corpus) | {"labels": tuple(all_labels(corpus))}

    def make_task(
        self,
        model: Classifier,
        corpus: TokenCorpus[Labelled],
        settings: Settings[LabelledConfig],
    ) -> Classification:
        return Classification(model, corpus, settings.train)

    def summary(self, corpus: TokenCorpus[Labelled], data: LabelledConfig) -> dict[str, Any]:
        counts = Counter(row.label for row in corpus.examples)
        return super().summary(corpus, data) | {
            "labels": {k: counts[k] for k in labels_of(corpus.examples)}
        }

    def notes(self, corpus: TokenCorpus[Labelled], data: LabelledConfig) -> Iterable[str]:
        first, *others = super().notes(corpus, data)
        counts = Counter(row.label for row in corpus.examples)
        yield first
        yield f"labels: {', '.join(f'{visible(k)} ({n:,})' for k, n in counts.most_common())}"
        yield from others

    def conflicts_of_new(self, settings: Settings[LabelledConfig]) -> list[str]:
        """Weights that a run begins with would replace the words' vectors."""
        found = super().conflicts_of_new(settings)
        if settings.train.start and settings.data.vectors:
            found.append("train.start (--from) brings the words' vectors: leave data.vectors out")
        return found

    def prepare(
        self,
        model: Classifier,
        corpus: TokenCorpus[Labelled],
        data: LabelledConfig,
        note: Callable[[str], None],
    ) -> None:
        if data.vectors is not None:
            found = start_from(model, corpus.tokens, Words.load(data.vectors))
            note(f"{found:,} of {len(corpus.tokens):,} words start from {data.vectors}")


def all_labels(corpus: TokenCorpus[Labelled]) -> list[str]:
    """Those of all parts: none of them has one that training has not."""
    data = corpus.data
    return labels_of([*data.train, *data.valid, *data.test])


def start_from(model: Classifier, tokens: Tokenizer, words: Words) -> int:
    """Copy the vectors of the words that have one into the model, and count them.

    A word that has none keeps its random vector, made as long as the others are on average.
    """
    width = words.vectors.shape[1]
    if width != model.config.width:
        raise ConfigError(
            f"these vectors have {width} numbers, the model's {model.config.width}: "
            f"set model.width={width}"
        )
    pieces = [piece.removeprefix(START) for piece in tokens.pieces(range(len(tokens)))]
    rows = {i: found for i, piece in enumerate(pieces) if (found := words.find(piece)) is not None}
    if rows:
        vectors = torch.from_numpy(np.array([words.vectors[f.row] for f in rows.values()]))
        with torch.no_grad():
            model.words.mul_(vectors.norm(dim=-1).mean())
            model.words[list(rows)] = vectors.to(model.words)
    return len(rows)


@dataclass(frozen=True)
class Confusion:
    """How often each label was taken for each: ``counts[true, said]``."""

    labels: list[str]
    counts: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def of(cls, labels: Sequence[str], true: Sequence[int], said: Sequence[int]) -> Confusion:
        """Count pairs of the right label's place and the said one's."""
        counts = np.zeros((len(labels), len(labels)), np.int64)
        np.add.at(counts, (np.array(true, int), np.array(said, int)), 1)
        return cls(list(labels), counts)

    @property
    def accuracy(self) -> float:
        """The share that is right, from 0 to 1."""
        return float(self.counts.trace() / self.counts.sum())

    @property
    def commonest(self) -> float:
        """The accuracy of always saying the most frequent label."""
        return float(self.counts.sum(1).max() / self.counts.sum())

    def recall(self) -> list[float | None]:
        """Of the sentences with each label, the share that was found; None if there is none."""
        return _shares(self.counts, 1)

    def precision(self) -> list[float | None]:
        """Of those that were said to have it, the share that has it; None if there is none."""
        return _shares(self.counts, 0)

    def figures(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "accuracy": self.accuracy,
            "commonest": self.commonest,
            "labels": self.labels,
            "confusion": self.counts.tolist(),
            "recall": self.recall(),
            "precision": self.precision(),
        }


def _shares(counts: np.ndarray[Any, np.dtype[np.int64]], axis: int) -> list[float | None]:
    totals = counts.sum(axis)
    return [
        float(right / total) if total else None
        for right, total in zip(counts.diagonal(), totals, strict=True)
    ]


@torch.no_grad()
def decide(
    model: Classifier, sentences: Sequence[list[int]], batch_tokens: int = 2000
) -> list[Decision]:
    """The decision about each sentence (token ids), in their order, on the CPU."""
    device = model.words.device
    found: list[Decision | None] = [None] * len(sentences)
    for rows in _batches(sentences, batch_tokens):
        ids, lengths = padded([sentences[row] for row in rows])
        logits, weights = model(ids.to(device), lengths.to(device))
        for row, logit, weight in zip(rows, logits.cpu(), weights.cpu(), strict=True):
            found[row] = Decision(logit, weight[: len(sentences[row])])
    return [each for each in found if each is not None]


def _batches(sentences: Sequence[list[int]], tokens: int) -> Iterator[list[int]]:
    lengths = [(len(ids),) for ids in sentences]
    yield from plan(lengths, max(tokens, *(each[0] for each in lengths)))
