"""The task of translation: sentence pairs, a Translator, and BLEU of what it says greedily."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.errors import MissingExtraError
from regard.models.translators.base import Translator
from regard.models.translators.beam import translate_batch
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig, sized
from regard.models.translators.translation import said_texts
from regard.train.config import TrainConfig
from regard.train.data.apart import halves, taken_apart
from regard.train.data.batches import Batch, TrainingExample, collate, plan
from regard.train.data.config import SIDES, PairsConfig, named_columns
from regard.train.data.corpus import TokenCorpus, ids_of
from regard.train.data.examples import Dataset, Examples, divided
from regard.train.data.names import Names
from regard.train.data.pairs import Pair, read_aligned, read_pairs
from regard.train.data.repeats import repeated
from regard.train.run.distributed import World
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Settings
from regard.train.tasks.metrics import bleu, chrf
from regard.train.tasks.textjob import TextJob

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


SAMPLES = 3
"""Validation pairs whose translations are shown at each validation."""


class TranslationTask:
    """A translator in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    higher = True

    def __init__(
        self,
        model: Translator,
        corpus: TokenCorpus[Pair],
        config: TrainConfig,
        *,
        names: float = 0.0,
        apart: float = 0.0,
        longest: int = 100,
    ) -> None:
        """``names``: the share of pairs with a name that get another; ``apart``: the chance that a
        piece of a source falls into two; ``longest``: pieces that a text may then have."""
        self.model, self.tokens, self.config = model, corpus.tokens, config
        self.read = [TrainingExample(*ids) for ids in corpus.train]
        self.share, self.apart, self.longest = names, apart, longest
        self.names = Names(corpus.examples) if names else None
        self.halves = halves(corpus.tokens) if apart else None
        self._train_on(self.read)
        self.valid = [TrainingExample(*ids) for ids in corpus.valid]
        self.sources = [pair.source for pair in corpus.data.valid]
        self.references = [pair.target for pair in corpus.data.valid]
        self.shown: list[dict[str, str]] = []
        self.valid_counts = _predictions(model, self.valid)
        # BLEU counts runs of four words: it is 0 for the best translation of shorter sentences.
        longest = max((len(text.split()) for text in self.references), default=0)
        self.score = "BLEU" if longest >= 4 else "chrF"

    def batches(self, epoch: int) -> list[list[int]]:
        if self.names is not None or self.halves is not None:
            self._train_on(self._apart(self._renamed(epoch), epoch))
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def _renamed(self, epoch: int) -> list[TrainingExample]:
        """What was read, with the made-up names of this pass."""
        if self.names is None:
            return self.read
        found = self.names.renamed(self.share, f"{self.config.seed} {epoch}")
        examples = list(self.read)
        pairs = list(found.values())
        for place, ids in zip(found, ids_of(pairs, self.tokens) if pairs else (), strict=True):
            if max(map(len, ids)) <= self.longest:
                examples[place] = TrainingExample(*ids)
        return examples

    def _apart(self, examples: list[TrainingExample], epoch: int) -> list[TrainingExample]:
        """The same with the pieces of sources that fall apart in this pass."""
        if self.halves is None:
            return examples
        sources, targets = ([example[side] for example in examples] for side in (0, 1))
        seed = self.config.seed, epoch
        fallen = taken_apart(sources, self.halves, self.apart, seed, self.longest)
        return [TrainingExample(*ids) for ids in zip(fallen, targets, strict=True)]

    def _train_on(self, examples: list[TrainingExample]) -> None:
        self.train = examples
        self.lengths = [_lengths(example) for example in examples]
        self.counts = _predictions(self.model, examples)

    def targets(self, rows: list[int]) -> int:
        return int(self.counts[rows].sum())

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss([self.train[row] for row in rows], smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss([self.valid[row] for row in rows], 0.0)

    def _loss(self, examples: list[TrainingExample], smoothing: float) -> Tensor:
        b = self._batch(examples)
        loss = self.model.loss(
            b.source, b.source_lengths, b.target, b.target_lengths, smoothing=smoothing
        )
        return loss.total

    def _batch(self, examples: list[TrainingExample]) -> Batch:
        return collate(examples).to(next(self.model.parameters()).device)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        lengths = [_lengths(example) for example in self.valid]
        limit = max(self.config.batch_tokens, *(max(each) for each in lengths))
        total = sum(float(forward(rows)) for rows in plan(lengths, limit))
        loss = total / max(1, int(self.valid_counts.sum()))
        figures = {"loss": loss, "perplexity": math.exp(min(loss, 700.0))}
        if decode:
            most = min(len(lengths), self.config.validate_at_most)
            sample = np.linspace(0, len(lengths) - 1, most).astype(int).tolist()
            figures["score"] = self._score(sample, limit)
        return figures

    def samples(self) -> list[dict[str, str]]:
        return self.shown

    def _score(self, sample: list[int], limit: int) -> float:
        """BLEU (or chrF) of greedy translations of these validation pairs."""
        examples = [self.valid[i] for i in sample]
        said = [""] * len(sample)
        for rows in plan([(len(e.source) + 1,) for e in examples], limit):
            batch = self._batch([examples[row] for row in rows])
            found = translate_batch(self.model, batch.source, batch.source_lengths)
            texts = [self.sources[sample[row]] for row in rows]
            given = batch.source, batch.source_lengths
            spoken = said_texts(self.model, self.tokens, texts, *given, found)
            for row, text in zip(rows, spoken, strict=True):
                said[row] = text
        references = [self.references[i] for i in sample]
        spread = np.linspace(0, len(sample) - 1, min(len(sample), SAMPLES)).astype(int).tolist()
        self.shown = [
            {"source": self.sources[sample[i]], "reference": references[i], "said": said[i]}
            for i in spread
        ]
        return (bleu if self.score == "BLEU" else chrf)(said, references).value


class Translate(TextJob[PairsConfig, Pair, TranslatorConfig, Translator]):
    """``regard train translate``."""

    task = "translate"
    reads = "pairs"
    data_config = PairsConfig
    model_config = TranslatorConfig
    usual_model = "bahdanau"
    usual_epochs = 30
    what = "pairs"
    blank = "with nothing on a side"
    aside = " on a side"
    overlap = ("shares a sentence with", "share a sentence with")
    rounded = ("word-by-word", "encoder-decoder", "bahdanau", "transformer")

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        name = str(model["model"])
        base = BASE_RECIPES.get(name, {}) if model.get("size") == "base" else {}
        return RECIPES.get(name, {}) | base

    def sized(self, model: str, size: str, **settings: Any) -> TranslatorConfig:
        return sized(model, size, **settings)

    def build(self, config: TranslatorConfig) -> Translator:
        return build(config)

    def read(self, data: PairsConfig) -> Dataset[Pair]:
        columns = list(named_columns(data.columns, *SIDES).values())

        def examples(
            pairs: str | None, source: str | None, target: str | None
        ) -> Examples[Pair] | None:
            if pairs:
                return read_pairs(pairs, data.source_column, data.target_column, columns)
            return read_aligned(source, target) if source and target else None

        main = examples(data.pairs, data.source, data.target)
        assert main is not None, "PairsConfig checks this"
        valid = examples(data.valid_pairs, data.valid_source, data.valid_target)
        test = examples(data.test_pairs, data.test_source, data.test_target)
        return divided(main, valid, test, data)

    def encode(self, read: Dataset[Pair], learned: Files, data: PairsConfig) -> TokenCorpus[Pair]:
        train = repeated(read.train, data.short)
        corpus = super().encode(replace(read, train=train), learned, data)
        if data.apart:
            halves(corpus.tokens)  # refused before anything is written
        return corpus

    def make_task(
        self, model: Translator, corpus: TokenCorpus[Pair], settings: Settings[PairsConfig]
    ) -> TranslationTask:
        data = settings.data
        chances = {"names": data.names, "apart": data.apart}
        return TranslationTask(model, corpus, settings.train, **chances, longest=data.max_length)

    def check_able(self, settings: Settings[PairsConfig], world: World) -> None:
        if not settings.train.sharded and find_spec("sacrebleu") is None:
            raise MissingExtraError("BLEU", "sacrebleu")


def _lengths(example: TrainingExample) -> tuple[int, int]:
    """Of the source with EOS, of the target with BOS and EOS."""
    return len(example.source) + 1, len(example.target) + 2


def _predictions(model: Translator, examples: list[TrainingExample]) -> np.ndarray[Any, Any]:
    """How many target tokens of each example the model's loss is a sum over."""
    lengths = torch.tensor([_lengths(example) for example in examples])
    return model.predictable(lengths[:, 0], lengths[:, 1] - 1).numpy()
