"""Data config: where the text of a run comes from, a sentence per field.

What all texts have in common comes first; the fields are listed in docs/train.md, language.md and
classify.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from regard.errors import DataError
from regard.train.settings import at_least, at_most, complain

SIDES, TEXT, LABELLED = ("source", "target"), ("text",), ("label", "text")
"""What columns are named for, by kind of table."""
MOST_TOKENS = 2**31 - 1
"""Of a vocabulary or a sentence: what the library of tokens can count."""


@dataclass(frozen=True)
class PartsConfig:
    """How a text is divided and cut into tokens."""

    valid_share: float = 0.01
    """The share of the text set aside to validate on, if no validation file is given."""
    test_share: float = 0.01
    """The share set aside to test on, if neither a validation nor a test file is given."""
    split_seed: int = 0
    """Decides which sentences are set aside."""
    vocabulary: int = 0
    """How many tokens, special ones included; 0 = 4000, or 10004 words of one language."""
    level: Literal["bpe", "word", "space"] = "bpe"
    """Tokens are pieces of words (bpe), words (word), or what stands between spaces (space)."""
    least: int = 2
    """How often a piece or a word must occur in training to become a token."""
    tokenizer: str | None = None
    """A file to cut text by instead of learning how: of tokenizers (JSON) or SentencePiece."""
    max_length: int = 100
    """Sentences of more tokens (of a pair, either) are left out of training, and counted."""

    def __post_init__(self) -> None:
        complain(self.problems())

    def problems(self) -> list[str]:
        """Everything that is wrong with the settings."""
        found = at_least(self, 1, "least", "max_length") + at_least(self, 0, "split_seed")
        if self.tokenizer and self.vocabulary:
            found.append("tokenizer brings its own vocabulary: leave data.vocabulary out")
        found += at_most(self, MOST_TOKENS, "vocabulary", "least", "max_length")
        if self.vocabulary and self.vocabulary < 5:
            found.append(f"vocabulary must be at least 5, or 0, got {self.vocabulary}")
        for name in ("valid_share", "test_share"):
            if not 0 <= getattr(self, name) < 0.5:
                found.append(f"{name} must be from 0 to under 0.5, got {getattr(self, name)}")
        return found

    @property
    def usual_vocabulary(self) -> int:
        """How many tokens to learn at most."""
        return self.vocabulary or (4000 if self.level == "bpe" else 10_004)


@dataclass(frozen=True)
class PairsConfig(PartsConfig):
    """Where the sentence pairs of a translator come from."""

    pairs: str | None = None
    """A table, source TAB target a line; may be gzip; - is standard input."""
    source: str | None = None
    """Instead of a table: a file with one source sentence a line."""
    target: str | None = None
    """And the file with its translations, line by line."""
    source_column: int = 1
    """The table's column with the source, from 1."""
    target_column: int = 2
    """The table's column with the target, from 1."""
    columns: str | None = None
    """The columns by the names in the tables' first line, such as source=de,target=en."""
    valid_pairs: str | None = None
    """A table to validate on; without one, a share of the pairs is set aside."""
    valid_source: str | None = None
    """Instead of a table: the source sentences to validate on."""
    valid_target: str | None = None
    """And their translations."""
    test_pairs: str | None = None
    """A table to test on after training."""
    test_source: str | None = None
    """Instead of a table: the source sentences to test on."""
    test_target: str | None = None
    """And their translations."""
    names: float = 0.0
    """The share of the training pairs with a name that get a made-up one, anew in each pass."""
    short: int = 1
    """How often a pass has each training pair whose source has at most three words."""
    apart: float = 0.0
    """The chance that a piece of a source word falls into its two halves, anew in each pass."""

    def problems(self) -> list[str]:
        found = [
            *_one_way("pairs", self.pairs, self.source, self.target, needed=True),
            *_one_way("valid_pairs", self.valid_pairs, self.valid_source, self.valid_target),
            *_one_way("test_pairs", self.test_pairs, self.test_source, self.test_target),
            *super().problems(),
            *at_least(self, 1, "source_column", "target_column", "short"),
            *columns_problems(self.columns, *SIDES),
        ]
        if self.source_column == self.target_column:
            found.append(f"source_column and target_column are both {self.source_column}")
        if self.columns and {self.source_column, self.target_column} != {1, 2}:
            found.append("columns names them: leave source_column and target_column out")
        if self.columns and not (self.pairs or self.valid_pairs or self.test_pairs):
            found.append("columns are of a table: with source and target leave them out")
        if not 0 <= self.names <= 1:
            found.append(f"names must be from 0 to 1, got {self.names}")
        if not 0 <= self.apart <= 1:
            found.append(f"apart must be from 0 to 1, got {self.apart}")
        return found

    @property
    def usual_vocabulary(self) -> int:
        """How many tokens to learn at most, for both languages together."""
        return self.vocabulary or 4000


@dataclass(frozen=True)
class SentencesConfig(PartsConfig):
    """Files beside the one that is trained on."""

    valid: str | None = None
    """A file of the same kind to validate on; without one, a share of the text is set aside."""
    test: str | None = None
    """A file of the same kind to test on after training."""


@dataclass(frozen=True)
class TextConfig(SentencesConfig):
    """Where the text of a language model comes from and how it is read."""

    text: str | None = None
    """A file, a sentence a line; may be gzip; - is standard input."""
    column: int = 0
    """Of a table, the column with the text, from 1; 0 = the whole line."""
    columns: str | None = None
    """The table's column by the name in its first line: text=NAME; .csv has commas, others tabs."""
    unique: bool = False
    """A sentence that occurs on several lines counts once."""
    continuous: bool = False
    """The text is one stream: what was read before a line is remembered in it."""
    chunk: int = 35
    """Continuous: how many tokens the gradient goes back; batch_tokens / chunk streams."""

    def problems(self) -> list[str]:
        found = super().problems() + at_least(self, 1, "chunk") + at_least(self, 0, "column")
        found += columns_problems(self.columns, *TEXT)
        if not self.text:
            found.insert(0, "text is missing: a file with a sentence a line")
        if self.column and self.columns:
            found.append("column and columns are two ways to say the same: give one")
        if self.unique and self.continuous:
            found.append("unique is for sentences: a continuous text has its lines in their order")
        return found


@dataclass(frozen=True)
class LabelledConfig(SentencesConfig):
    """Where the labelled sentences of a classifier come from."""

    file: str | None = None
    """A file, label and sentence a line, a tab or space between; may be gzip; - is stdin."""
    columns: str | None = None
    """The columns of a table by the names in its first line: label=NAME,text=NAME."""
    vectors: str | None = None
    """Word vectors to start from (GloVe, word2vec, fastText); others start at random."""

    def problems(self) -> list[str]:
        found = super().problems()
        if not self.file:
            found.insert(0, "file is missing: a label and a sentence a line")
        found += columns_problems(self.columns, *LABELLED)
        if self.vectors and self.level == "bpe":
            found.append("vectors are of whole words: level must be word or space, got bpe")
        return found


@dataclass(frozen=True)
class TaggedConfig(SentencesConfig):
    """Where the sentences of a labeller come from, with a label for each word."""

    file: str | None = None
    """A file in columns, a word a line: CoNLL-U, or the word first and the label last."""
    column: str = ""
    """Of the labels: its number from 1, or its name in CoNLL-U; else upos, or the last."""

    def problems(self) -> list[str]:
        found = super().problems()
        if not self.file:
            found.insert(0, "file is missing: a word and its label a line")
        return found


PATHS = {
    *(
        f"{part}{side}"
        for part in ("", "valid_", "test_")
        for side in ("pairs", "source", "target")
    ),
    *("text", "file", "vectors", "valid", "test", "tokenizer"),
}
"""Settings that name files: these may be elsewhere when a run is resumed."""


def named_columns(text: str | None, *parts: str) -> dict[str, str]:
    """``source=de,target=en`` as {"source": "de", "target": "en"}, in the order of ``parts``."""
    if text is None:
        return {}
    written_parts = [part.strip().partition("=")[::2] for part in text.split(",")]
    named = dict(written_parts)
    if sorted(name for name, _ in written_parts) != sorted(parts) or not all(named.values()):
        written = ",".join(f"{part}=NAME" for part in parts)
        raise DataError(f"columns are written {written}; got {text!r}")
    if len(set(named.values())) < len(parts):
        raise DataError(f"columns must be different ones; got {text!r}")
    return {part: named[part] for part in parts}


def columns_problems(text: str | None, *parts: str) -> list[str]:
    """What is wrong with such a text."""
    try:
        named_columns(text, *parts)
    except DataError as error:
        return [str(error)]
    return []


def reversed_sides(data: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of PairsConfig with source and target swapped."""
    swapped: dict[str, Any] = {"source_column": 2, "target_column": 1}
    for key, value in data.items():
        if key == "columns":
            swapped[key] = re.sub(r"(source|target)(?==)", _other_side, str(value))
            continue
        for one, other in (("source", "target"), ("target", "source")):
            if one in key:
                swapped[key.replace(one, other)] = value
                break
        else:
            swapped[key] = value
    return swapped


def _other_side(side: re.Match[str]) -> str:
    return "target" if side[0] == "source" else "source"


def _one_way(
    table: str, pairs: str | None, source: str | None, target: str | None, needed: bool = False
) -> list[str]:
    """Problems of a choice: a table, or two files, or (unless needed) nothing."""
    first, second = (table.replace("pairs", side) for side in ("source", "target"))
    if pairs and (source or target):
        return [f"{table} and {first}/{second} are two ways to say the same: give one"]
    if bool(source) != bool(target):
        return [f"{first} and {second} go together: {first if target else second} is missing"]
    if needed and not (pairs or source):
        return [f"{table} is missing: a table of sentence pairs, or {first} and {second}"]
    return []
