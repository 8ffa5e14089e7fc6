"""The task of language modelling: sentences or a stream, a LanguageModel, and its perplexity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.design import ATTENTIVE
from regard.models.language import LanguageConfig, LanguageModel, sized
from regard.pieces.tokenizer import PAD
from regard.recurrent import Tapes
from regard.text import number_of
from regard.train.config import TrainConfig
from regard.train.data.batches import plan
from regard.train.data.config import TEXT, TextConfig, named_columns
from regard.train.data.corpus import TokenCorpus, target_tokens
from regard.train.data.examples import Dataset, by_group, divided, in_order
from regard.train.data.sentences import TextLine, read_sentences
from regard.train.run.distributed import World
from regard.train.settings import Tree
from regard.train.tasks.job import Settings
from regard.train.tasks.perplexity import (
    convention,
    figures,
    in_streams,
    piece_loss,
    piece_of,
    pieces,
    sentence_batches,
    sentence_loss,
)
from regard.train.tasks.task import Task
from regard.train.tasks.textjob import TextJob

RECIPES: dict[str, Tree] = {
    "simple-rnn": {"learning_rate": 2e-3},
    "simple-rnn+attention": {"learning_rate": 2e-3},
    "lstm": {"learning_rate": 4e-3},
    "lstmn": {"learning_rate": 4e-3},
    "transformer": {"learning_rate": 2e-3, "warmup": 400},
}
"""Settings of TrainConfig that suit a design, where the user says nothing."""
USUAL: Tree = {"warmup": 100, "batch_tokens": 1000, "smoothing": 0.0}
"""The same for all of them."""


class Perplexity:
    """What both tasks share: the score of the validation part."""

    score = "perplexity"
    higher = False

    def __init__(
        self, model: LanguageModel, corpus: TokenCorpus[TextLine], config: TrainConfig
    ) -> None:
        self.model, self.config = model, config
        self.train = [ids for (ids,) in corpus.train]
        self.valid = [ids for (ids,) in corpus.valid]


class Sentences(Perplexity):
    """Each line on its own: BOS, its words, EOS."""

    def __init__(
        self, model: LanguageModel, corpus: TokenCorpus[TextLine], config: TrainConfig
    ) -> None:
        super().__init__(model, corpus, config)
        self.lengths = [(len(ids) + 2,) for ids in self.train]

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return sum(len(self.train[row]) + 1 for row in rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return sentence_loss(self.model, [self.train[row] for row in rows], smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return sentence_loss(self.model, [self.valid[row] for row in rows])

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        batches = sentence_batches(self.valid, self.config.batch_tokens)
        return figures(sum(float(forward(rows)) for rows in batches), self.valid)


class Stream(Perplexity):
    """All lines one after the other, EOS between them, read in pieces of ``chunk`` tokens.

    The text is cut into as many streams as a batch has room for; the state after a piece is the
    state before the next one, and the gradient ends there. An example is a piece of a stream:
    number piece · streams + stream.
    """

    def __init__(
        self, model: LanguageModel, corpus: TokenCorpus[TextLine], config: TrainConfig, chunk: int
    ) -> None:
        super().__init__(model, corpus, config)
        self.chunk = chunk
        self.streams = max(1, config.batch_tokens // chunk)
        self.text = in_streams(self.train, self.streams)
        self.valid_text = in_streams(self.valid, 1)
        self.state: Tapes | None = None
        self.valid_state: Tapes | None = None

    def batches(self, epoch: int) -> list[list[int]]:
        rows = range(len(self.text))
        return [
            [piece * self.streams + row for row in rows]
            for piece in range(pieces(self.text, self.chunk))
        ]

    def targets(self, rows: list[int]) -> int:
        ids = piece_of(self.text, rows[0] // self.streams, self.chunk)
        return int((ids[:, 1:] != PAD).sum())

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        piece = rows[0] // self.streams
        ids = piece_of(self.text, piece, self.chunk)
        loss, state = piece_loss(self.model, ids, self.state if piece else None, smoothing)
        self.state = _laid_out(state) if state else None
        return loss

    def validation_loss(self, rows: list[int]) -> Tensor:
        ids = piece_of(self.valid_text, rows[0], self.chunk)
        before = self.valid_state if rows[0] else None
        loss, self.valid_state = piece_loss(self.model, ids, before)
        return loss

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        total = sum(float(forward([i])) for i in range(pieces(self.valid_text, self.chunk)))
        return figures(total, self.valid)

    def carried(self) -> dict[str, Tensor]:
        named = self.state._asdict() if self.state else {}
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    def carry(self, tensors: Mapping[str, Tensor]) -> None:
        if tensors:
            device = self.model.words.device
            moved = {name: tensor.to(device) for name, tensor in tensors.items()}
            cells = moved.get("cells")
            saved = Tapes(moved["hidden"], cells, moved["summary"], moved["lengths"])
            self.state = _laid_out(saved)


def _laid_out(state: Tapes) -> Tapes:
    """The state without its past, in fresh memory.

    The same numbers in another layout, or at an address that is not aligned (as in a file that was
    read), are summed in another order: a resumed run would differ in its last bits.
    """

    def copied(tensor: Tensor) -> Tensor:
        return tensor.detach().clone(memory_format=torch.contiguous_format)

    cells = None if state.cells is None else copied(state.cells)
    return Tapes(copied(state.hidden), cells, copied(state.summary), copied(state.lengths))


class Language(TextJob[TextConfig, TextLine, LanguageConfig, LanguageModel]):
    """``regard train lm``."""

    task = "lm"
    reads = "text"
    data_config = TextConfig
    model_config = LanguageConfig
    usual_model = "lstmn"
    usual_epochs = 20
    blank = "without text"
    suffix = "txt"

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return USUAL | RECIPES.get(str(model["model"]), {})

    def sized(self, model: str, size: str, **settings: Any) -> LanguageConfig:
        return sized(model, size, **settings)

    def build(self, config: LanguageConfig) -> LanguageModel:
        return LanguageModel(config)

    def read(self, data: TextConfig) -> Dataset[TextLine]:
        assert data.text is not None, "TextConfig checks this"
        column = named_columns(data.columns, *TEXT).get("text", data.column)
        main = read_sentences(data.text, column, unique=data.unique)
        valid = read_sentences(data.valid, column) if data.valid else None
        test = read_sentences(data.test, column) if data.test else None
        return divided(main, valid, test, data, in_order if data.continuous else by_group)

    def longest(self, data: TextConfig) -> int | None:
        return None if data.continuous else data.max_length

    def make_task(
        self,
        model: LanguageModel,
        corpus: TokenCorpus[TextLine],
        settings: Settings[TextConfig],
    ) -> Task:
        if settings.data.continuous:
            return Stream(model, corpus, settings.train, settings.data.chunk)
        return Sentences(model, corpus, settings.train)

    def notes(self, corpus: TokenCorpus[TextLine], data: TextConfig) -> Iterable[str]:
        first, *others = super().notes(corpus, data)
        tokens = f" ({number_of(target_tokens(corpus), 'token')} with their ends) to train on"
        yield first.replace(" to train on", tokens, 1)
        yield from others
        yield convention(data.continuous)

    def conflicts(self, settings: Settings[TextConfig]) -> list[str]:
        found = super().conflicts(settings)
        if not settings.data.continuous:
            return found
        if settings.train.batch_tokens < settings.data.chunk:
            found.append(
                f"train.batch_tokens ({settings.train.batch_tokens}) must hold a data.chunk "
                f"({settings.data.chunk})"
            )
        if settings.model["model"] in ATTENTIVE and not settings.model.get("window"):
            found.append(
                f"model.window is missing: {settings.model['model']} keeps every word it can "
                "attend to, and a continuous text has no end; such as model.window=50"
            )
        return found

    def check_able(self, settings: Settings[TextConfig], world: World) -> None:
        if settings.data.continuous and world.size > 1:
            raise ConfigError("data.continuous carries its state over in one process: start one")
