"""Text job: what all kinds of training on text have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, Generic, TypeVar

from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import TOKENS, RunFolder
from regard.train.data.config import PATHS, PartsConfig
from regard.train.data.corpus import (
    TokenCorpus,
    in_tokens,
    learn_tokens,
    notes,
    summary,
)
from regard.train.data.examples import Dataset, E
from regard.train.settings import Tree
from regard.train.tasks.job import Config, Files, Job, Model, Settings

LEARNED = ("vocabulary", "level", "least")
"""Settings of how tokens are learned."""
TextData = TypeVar("TextData", bound=PartsConfig)


class TextJob(
    Job[TextData, Dataset[E], TokenCorpus[E], Config, Model],
    Generic[TextData, E, Config, Model],
):
    """Training on text: examples are lines, and what is learned first is a vocabulary."""

    what: ClassVar[str] = "sentences"
    """What examples are called before the user,"""
    blank: ClassVar[str] = "without a sentence"
    """lines that are none,"""
    aside: ClassVar[str] = ""
    """where a long one is long,"""
    overlap: ClassVar[tuple[str, str]] = ("is also in", "are also in")
    """and those that a validation or test file has too."""
    suffix: ClassVar[str] = "tsv"
    """Of the files with what is not trained on."""
    undecided: ClassVar[Mapping[str, Any]] = {"vocabulary": 100}
    paths: ClassVar[Iterable[str]] = PATHS
    learns: ClassVar[Iterable[str]] = (TOKENS,)

    def fingerprint(self, read: Dataset[E]) -> str:
        return read.digest

    def learn(self, read: Dataset[E], data: TextData) -> Files:
        return {TOKENS: learn_tokens(read, data).to_text()}

    def known(self, folder: RunFolder) -> Files:
        return {TOKENS: folder.read_tokens().to_text()}

    def encode(self, read: Dataset[E], learned: Files, data: TextData) -> TokenCorpus[E]:
        tokens = Tokenizer.from_text(learned[TOKENS])
        return in_tokens(read, tokens, self.longest(data), self.what)

    def longest(self, data: TextData) -> int | None:
        """How many tokens an example to train on has at most; None = any."""
        return data.max_length

    def held_out(self, read: Dataset[E]) -> Files:
        parts = {"valid": read.valid, "test": read.test}
        return {f"{name}.{self.suffix}": _lines(rows) for name, rows in parts.items() if rows}

    def decided(self, corpus: TokenCorpus[E]) -> Tree:
        return {"vocabulary": len(corpus.tokens)}

    def summary(self, corpus: TokenCorpus[E], data: TextData) -> dict[str, Any]:
        return summary(corpus, data)

    def notes(self, corpus: TokenCorpus[E], data: TextData) -> Iterable[str]:
        yield from notes(
            corpus,
            data,
            what=self.what,
            blank=self.blank,
            aside=self.aside,
            overlap=self.overlap,
        )

    def conflicts(self, settings: Settings[TextData]) -> list[str]:
        """Problems if tokens come from two places, or the longest sentence that is trained on does
        not fit into a batch."""
        found = []
        if settings.data.tokenizer and settings.train.start:
            found.append(brings_tokens("tokenizer"))
        most, room = self.longest(settings.data), settings.train.batch_tokens
        if most is not None and most + 2 > room:
            found.append(
                f"train.batch_tokens ({room}) must hold a sentence of data.max_length ({most}) "
                "tokens and 2 more"
            )
        return found

    def conflicts_of_new(self, settings: Settings[TextData]) -> list[str]:
        """Of what says how tokens are learned nothing counts where they come with weights."""
        usual = {f.name: f.default for f in fields(settings.data) if f.name in LEARNED}
        said = [name for name in LEARNED if getattr(settings.data, name) != usual[name]]
        return [brings_tokens(name) for name in said] if settings.train.start else []


def brings_tokens(name: str) -> str:
    """Why a setting of the data cannot stand beside the weights that a run begins with."""
    return f"train.start (--from) brings its tokens: leave data.{name} out"


def _lines(rows: Sequence[E]) -> str:
    return "".join(f"{row.line()}\n".replace("\r", " ") for row in rows)
