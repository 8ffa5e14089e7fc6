"""The task of language modelling: sentences or a stream, a LanguageModel, and its perplexity.

perplexity = exp(−sum log p(token) / tokens), over every token and the end of every line
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.embed.tokens import BOS, EOS, PAD, Tokens
from regard.errors import ConfigError
from regard.models.design import ATTENTIVE
from regard.models.language import LanguageConfig, LanguageModel, sized
from regard.recurrent import Tapes
from regard.train.batches import padded, plan
from regard.train.config import TrainConfig
from regard.train.distributed import World
from regard.train.folder import RunFolder
from regard.train.job import Job, Settings, too_long
from regard.train.settings import Tree
from regard.train.task import Task
from regard.train.text import (
    Text,
    TextCorpus,
    learn_tokens,
    make_corpus,
    print_summary,
    read_text,
    summary,
    write_lines,
)
from regard.train.textconfig import TextConfig

RECIPES: dict[str, Tree] = {
    "simple-rnn": {"learning_rate": 1e-3},
    "simple-rnn+attention": {"learning_rate": 1e-3},
    "lstm": {"learning_rate": 3e-3},
    "lstmn": {"learning_rate": 3e-3},
    "transformer": {"learning_rate": 2e-3, "warmup": 400},
}
"""Settings of TrainConfig that suit a design, where the user says nothing."""
USUAL: Tree = {"warmup": 100, "batch_tokens": 1000, "smoothing": 0.0}
"""The same for all of them."""


class Perplexity:
    """What both tasks share: the score of the validation part."""

    score = "perplexity"
    higher = False

    def __init__(self, model: LanguageModel, corpus: TextCorpus, config: TrainConfig) -> None:
        self.model, self.corpus, self.config = model, corpus, config

    @property
    def device(self) -> torch.device:
        return self.model.words.device


class Sentences(Perplexity):
    """Each line on its own: BOS, its words, EOS."""

    def __init__(self, model: LanguageModel, corpus: TextCorpus, config: TrainConfig) -> None:
        super().__init__(model, corpus, config)
        self.lengths = [(len(ids) + 2,) for ids in corpus.train]

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return sum(len(self.corpus.train[row]) + 1 for row in rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return sentence_loss(self.model, [self.corpus.train[row] for row in rows], smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return sentence_loss(self.model, [self.corpus.valid[row] for row in rows])

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        batches = sentence_batches(self.corpus.valid, self.config.batch_tokens)
        return figures(sum(float(forward(rows)) for rows in batches), self.corpus.valid)


class Stream(Perplexity):
    """All lines one after the other, EOS between them, read in pieces of ``chunk`` tokens.

    The text is cut into as many streams as a batch has room for; the state after a piece is the
    state before the next one, and the gradient ends there. An example is a piece of a stream:
    number piece · streams + stream.
    """

    def __init__(
        self, model: LanguageModel, corpus: TextCorpus, config: TrainConfig, chunk: int
    ) -> None:
        super().__init__(model, corpus, config)
        self.chunk = chunk
        self.streams = max(1, config.batch_tokens // chunk)
        self.text = in_streams(corpus.train, self.streams)
        self.valid = in_streams(corpus.valid, 1)
        self.state: Tapes | None = None
        self.valid_state: Tapes | None = None

    def batches(self, epoch: int) -> list[list[int]]:
        pieces = math.ceil((self.text.shape[1] - 1) / self.chunk)
        rows = range(len(self.text))
        return [[piece * self.streams + row for row in rows] for piece in range(pieces)]

    def targets(self, rows: list[int]) -> int:
        return int((self._piece(self.text, rows[0] // self.streams)[:, 1:] != PAD).sum())

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        piece = rows[0] // self.streams
        state = self.state.detach() if piece and self.state else None
        loss, self.state = self._loss(self.text, piece, state, smoothing)
        return loss

    def validation_loss(self, rows: list[int]) -> Tensor:
        state = self.valid_state if rows[0] else None
        loss, self.valid_state = self._loss(self.valid, rows[0], state, 0.0)
        return loss

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        pieces = math.ceil((self.valid.shape[1] - 1) / self.chunk)
        total = sum(float(forward([piece])) for piece in range(pieces))
        return figures(total, self.corpus.valid)

    def carried(self) -> dict[str, Tensor]:
        if self.state is None:
            return {}
        named = self.state.detach()._asdict()
        return {name: tensor for name, tensor in named.items() if tensor is not None}

    def carry(self, tensors: Mapping[str, Tensor]) -> None:
        if tensors:
            moved = {name: tensor.to(self.device) for name, tensor in tensors.items()}
            cells = moved.get("cells")
            self.state = Tapes(moved["hidden"], cells, moved["summary"], moved["lengths"])

    def _piece(self, text: Tensor, piece: int) -> Tensor:
        """Token ids (streams, up to chunk + 1), the last of a piece being the next one's first."""
        return text[:, piece * self.chunk : (piece + 1) * self.chunk + 1]

    def _loss(
        self, text: Tensor, piece: int, state: Tapes | None, smoothing: float
    ) -> tuple[Tensor, Tapes | None]:
        ids = self._piece(text, piece).to(self.device)
        return self.model.stream_loss(ids[:, :-1], ids[:, 1:], state, smoothing)


def sentence_batches(sentences: Sequence[list[int]], tokens: int) -> list[list[int]]:
    """Indices of all sentences in batches, however long the longest is."""
    lengths = [(len(ids) + 2,) for ids in sentences]
    return plan(lengths, max(tokens, *(each[0] for each in lengths)))


def sentence_loss(
    model: LanguageModel, sentences: Sequence[list[int]], smoothing: float = 0.0
) -> Tensor:
    """The sum of the cross-entropies of the sentences' tokens and ends."""
    ids, lengths = padded([[BOS, *words, EOS] for words in sentences])
    device = model.words.device
    return model.loss(ids.to(device), lengths.to(device), smoothing).total


def in_streams(sentences: Sequence[list[int]], streams: int) -> Tensor:
    """Token ids (streams, n + 1): the text after a first EOS, cut into streams of n tokens.

    Each stream begins with the last token of the one before it, which is read and not predicted
    there; the last one is filled with PAD.
    """
    flat = np.array([EOS] + [i for ids in sentences for i in (*ids, EOS)])
    n = math.ceil((len(flat) - 1) / streams)
    rows = [flat[start : start + n + 1] for start in range(0, len(flat) - 1, n)]
    table = np.full((len(rows), n + 1), PAD)
    for filled, row in zip(table, rows, strict=True):
        filled[: len(row)] = row
    return torch.from_numpy(table)


def figures(total: float, sentences: Sequence[list[int]]) -> dict[str, float]:
    """Loss per token and perplexity, given the total loss; ends of lines count."""
    loss = total / sum(len(ids) + 1 for ids in sentences)
    return {"loss": loss, "score": math.exp(min(loss, 700.0))}


class Language(Job):
    """``regard train lm``."""

    task = "lm"
    reads = "text"
    data_config = TextConfig
    model_config = LanguageConfig
    usual_model = "lstmn"
    usual_epochs = 20

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return USUAL | RECIPES.get(str(model["model"]), {})

    def sized(self, model: str, size: str, **settings: Any) -> LanguageConfig:
        return sized(model, size, **settings)

    def build(self, config: LanguageConfig) -> LanguageModel:
        return LanguageModel(config)

    def read(self, data: TextConfig) -> Text:
        return read_text(data)

    def learn(self, text: Text, data: TextConfig) -> Tokens:
        return learn_tokens([line.text for line in text.train], data)

    def encode(self, text: Text, tokens: Tokens, data: TextConfig) -> TextCorpus:
        return make_corpus(text, tokens, data)

    def make_task(self, model: LanguageModel, corpus: TextCorpus, settings: Settings) -> Task:
        if settings.data.continuous:
            return Stream(model, corpus, settings.train, settings.data.chunk)
        return Sentences(model, corpus, settings.train)

    def summary(self, corpus: TextCorpus, data: TextConfig) -> dict[str, Any]:
        return summary(corpus, data)

    def print_summary(
        self, corpus: TextCorpus, data: TextConfig, note: Callable[[str], None]
    ) -> None:
        print_summary(corpus, data, note)
        note(convention(data.continuous))

    def write_parts(self, folder: RunFolder, corpus: TextCorpus) -> None:
        write_lines(folder.valid_text, corpus.text.valid)
        if corpus.text.test:
            write_lines(folder.test_text, corpus.text.test)

    def conflicts(self, settings: Settings) -> list[str]:
        if not settings.data.continuous:
            return too_long(settings)
        found = []
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

    def check_able(self, settings: Settings, world: World) -> None:
        if settings.data.continuous and world.size > 1:
            raise ConfigError("data.continuous carries its state over in one process: start one")


def convention(continuous: bool) -> str:
    """What the perplexity is of, in a sentence."""
    text = (
        "the text is one stream, the state goes on from line to line"
        if continuous
        else "each line is read on its own"
    )
    return f"perplexity: per token, the end of each line counted as one; {text}"
