"""The task of translation: sentence pairs, a Translator, and BLEU of what it says greedily."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.errors import MissingExtraError
from regard.models.translators.base import Translator, TranslatorConfig, build, sized
from regard.models.translators.beam import translate_batch
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import RunFolder
from regard.train.config import PairsConfig, TrainConfig
from regard.train.data.batches import Batch, TrainingExample, collate, plan
from regard.train.data.corpus import (
    PairCorpus,
    PairText,
    learn_tokens,
    make_corpus,
    print_summary,
    read_text,
    summary,
)
from regard.train.data.pairs import write_pairs
from regard.train.run.distributed import World
from regard.train.settings import Tree
from regard.train.tasks.job import Job, Settings, too_long
from regard.train.tasks.metrics import bleu, chrf

RECIPES: dict[str, Tree] = {
    "word-by-word": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "encoder-decoder": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "bahdanau": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "lstmn-shallow": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "lstmn-deep": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "transformer": {"learning_rate": 3e-3, "warmup": 400, "batch_tokens": 2000},
}
"""Settings of TrainConfig that suit a design, where the user says nothing."""
BASE_RECIPES: dict[str, Tree] = {
    "transformer": {"learning_rate": 7e-4, "warmup": 4000, "batch_tokens": 4000},
}
"""The same for size base: the Transformer paper's width**-0.5 · warmup**-0.5."""


class TranslationTask:
    """A translator in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    higher = True

    def __init__(self, model: Translator, corpus: PairCorpus, config: TrainConfig) -> None:
        self.model, self.corpus, self.config = model, corpus, config
        self.lengths = [_lengths(example) for example in corpus.train]
        self.counts = _predictions(model, corpus.train)
        self.valid_counts = _predictions(model, corpus.valid)
        # BLEU counts runs of four words: it is 0 for the best translation of shorter sentences.
        longest = max((len(p.target.split()) for p in corpus.text.parts.valid), default=0)
        self.score = "BLEU" if longest >= 4 else "chrF"

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return int(self.counts[rows].sum())

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss([self.corpus.train[row] for row in rows], smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss([self.corpus.valid[row] for row in rows], 0.0)

    def _loss(self, examples: list[TrainingExample], smoothing: float) -> Tensor:
        b = self._batch(examples)
        loss = self.model.loss(
            b.source, b.source_lengths, b.target, b.target_lengths, smoothing=smoothing
        )
        return loss.total

    def _batch(self, examples: list[TrainingExample]) -> Batch:
        return collate(examples).to(next(self.model.parameters()).device)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        lengths = [_lengths(example) for example in self.corpus.valid]
        limit = max(self.config.batch_tokens, *(max(each) for each in lengths))
        total = sum(float(forward(rows)) for rows in plan(lengths, limit))
        figures = {"loss": total / max(1, int(self.valid_counts.sum()))}
        if decode:
            most = min(len(lengths), self.config.validate_at_most)
            sample = np.linspace(0, len(lengths) - 1, most).astype(int).tolist()
            figures["score"] = self._score(sample, limit)
        return figures

    def _score(self, sample: list[int], limit: int) -> float:
        """BLEU (or chrF) of greedy translations of these validation pairs."""
        examples = [self.corpus.valid[i] for i in sample]
        said = [""] * len(sample)
        for rows in plan([(len(e.source) + 1,) for e in examples], limit):
            batch = self._batch([examples[row] for row in rows])
            found = translate_batch(self.model, batch.source, batch.source_lengths)
            for row, hypothesis in zip(rows, found, strict=True):
                said[row] = self.corpus.tokens.decode(hypothesis.ids)
        references = [self.corpus.text.parts.valid[i].target for i in sample]
        return (bleu if self.score == "BLEU" else chrf)(said, references).value


class Translate(Job):
    """``regard train translate``."""

    task = "translate"
    reads = "pairs"
    data_config = PairsConfig
    model_config = TranslatorConfig
    usual_model = "bahdanau"
    usual_epochs = 30
    rounded = ("word-by-word", "encoder-decoder", "bahdanau", "transformer")

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        name = str(model["model"])
        base = BASE_RECIPES.get(name, {}) if model.get("size") == "base" else {}
        return RECIPES.get(name, {}) | base

    def sized(self, model: str, size: str, **settings: Any) -> TranslatorConfig:
        return sized(model, size, **settings)

    def build(self, config: TranslatorConfig) -> Translator:
        return build(config)

    def read(self, data: PairsConfig) -> PairText:
        return read_text(data)

    def learn(self, text: PairText, data: PairsConfig) -> Tokenizer:
        return learn_tokens(text, data)

    def encode(self, text: PairText, tokens: Tokenizer, data: PairsConfig) -> PairCorpus:
        return make_corpus(text, tokens, data)

    def make_task(
        self, model: Translator, corpus: PairCorpus, settings: Settings
    ) -> TranslationTask:
        return TranslationTask(model, corpus, settings.train)

    def summary(self, corpus: PairCorpus, data: PairsConfig) -> dict[str, Any]:
        return summary(corpus, data)

    def print_summary(
        self, corpus: PairCorpus, data: PairsConfig, note: Callable[[str], None]
    ) -> None:
        print_summary(corpus, data, note)

    def write_parts(self, folder: RunFolder, corpus: PairCorpus) -> None:
        write_pairs(folder.valid, corpus.text.parts.valid)
        if corpus.text.parts.test:
            write_pairs(folder.test, corpus.text.parts.test)

    def conflicts(self, settings: Settings) -> list[str]:
        return too_long(settings)

    def check_able(self, settings: Settings, world: World) -> None:
        if not settings.train.sharded and find_spec("sacrebleu") is None:
            raise MissingExtraError("BLEU", "train")


def _lengths(example: TrainingExample) -> tuple[int, int]:
    """Of the source with EOS, of the target with BOS and EOS."""
    return len(example.source) + 1, len(example.target) + 2


def _predictions(model: Translator, examples: list[TrainingExample]) -> np.ndarray[Any, Any]:
    """How many target tokens of each example the model's loss is a sum over."""
    lengths = torch.tensor([_lengths(example) for example in examples])
    return model.predictable(lengths[:, 0], lengths[:, 1] - 1).numpy()
