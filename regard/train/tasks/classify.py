"""The task of classification: labelled sentences, a Classifier, and its accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.classifier import Classifier, ClassifierConfig, Decision, sized
from regard.pieces.tokenizer import START, Tokenizer
from regard.store.folder import RunFolder
from regard.train.config import TrainConfig
from regard.train.data.batches import padded, plan
from regard.train.data.config import LabelledConfig
from regard.train.data.labelled import (
    LabelledCorpus,
    LabelledText,
    make_corpus,
    print_summary,
    read_text,
    summary,
    write_labelled,
)
from regard.train.data.text import learn_tokens
from regard.train.settings import Tree
from regard.train.tasks.job import Job, Settings, too_long
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

    def __init__(self, model: Classifier, corpus: LabelledCorpus, config: TrainConfig) -> None:
        self.model, self.corpus, self.config = model, corpus, config
        self.lengths = [(len(ids),) for ids in corpus.train]

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return len(rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss(self.corpus.train, self.corpus.train_labels, rows, smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss(self.corpus.valid, self.corpus.valid_labels, rows, 0.0)

    def _loss(
        self, sentences: list[list[int]], labels: list[int], rows: list[int], smoothing: float
    ) -> Tensor:
        device = self.model.words.device
        ids, lengths = padded([sentences[row] for row in rows])
        right = torch.tensor([labels[row] for row in rows], device=device)
        return self.model.loss(ids.to(device), lengths.to(device), right, smoothing)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        valid, labels = self.corpus.valid, self.corpus.valid_labels
        total = sum(float(forward(rows)) for rows in _batches(valid, self.config.batch_tokens))
        figures = {"loss": total / len(valid)}
        if decode:
            said = [int(d.logits.argmax()) for d in decide(self.model, valid)]
            figures["score"] = 100 * float(np.mean(np.array(said) == np.array(labels)))
        return figures


class Classify(Job):
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

    def read(self, data: LabelledConfig) -> LabelledText:
        return read_text(data)

    def learn(self, text: LabelledText, data: LabelledConfig) -> Tokenizer:
        return learn_tokens([row.text for row in text.train], data)

    def encode(self, text: LabelledText, tokens: Tokenizer, data: LabelledConfig) -> LabelledCorpus:
        return make_corpus(text, tokens, data)

    def decided(self, corpus: LabelledCorpus) -> Tree:
        return {"vocabulary": len(corpus.tokens), "labels": tuple(corpus.text.labels)}

    def make_task(
        self, model: Classifier, corpus: LabelledCorpus, settings: Settings
    ) -> Classification:
        return Classification(model, corpus, settings.train)

    def summary(self, corpus: LabelledCorpus, data: LabelledConfig) -> dict[str, Any]:
        return summary(corpus, data)

    def print_summary(
        self, corpus: LabelledCorpus, data: LabelledConfig, note: Callable[[str], None]
    ) -> None:
        print_summary(corpus, data, note)

    def write_parts(self, folder: RunFolder, corpus: LabelledCorpus) -> None:
        write_labelled(folder.valid, corpus.text.valid)
        if corpus.text.test:
            write_labelled(folder.test, corpus.text.test)

    def prepare(
        self,
        model: Classifier,
        corpus: LabelledCorpus,
        data: LabelledConfig,
        note: Callable[[str], None],
    ) -> None:
        if data.vectors is not None:
            found = start_from(model, corpus.tokens, Words.load(data.vectors))
            note(f"{found:,} of {len(corpus.tokens):,} words start from {data.vectors}")

    def conflicts(self, settings: Settings) -> list[str]:
        return too_long(settings)


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

    def recall(self) -> list[float]:
        """Of the sentences with each label, the share that was found; NaN if there is none."""
        return _shares(self.counts, 1)

    def precision(self) -> list[float]:
        """Of those that were said to have it, the share that has it; NaN if there is none."""
        return _shares(self.counts, 0)


def _shares(counts: np.ndarray[Any, np.dtype[np.int64]], axis: int) -> list[float]:
    totals = counts.sum(axis)
    return [
        float(right / total) if total else float("nan")
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
