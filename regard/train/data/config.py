"""Text config: where the text of a language model or a classifier comes from, a sentence a field.

What both have in common comes first; the fields are listed in docs/language.md and classify.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.train.config import at_least
from regard.train.settings import complain


@dataclass(frozen=True)
class PartsConfig:
    """How a text is divided and cut into tokens."""

    valid: str | None = None
    """A file of the same kind to validate on; without one, a share of the text is set aside."""
    test: str | None = None
    """A file of the same kind to test on after training."""
    valid_share: float = 0.01
    """The share of the text set aside to validate on, if no validation file is given."""
    test_share: float = 0.01
    """The share set aside to test on, if neither a validation nor a test file is given."""
    split_seed: int = 0
    """Decides which sentences are set aside."""
    vocabulary: int = 0
    """How many tokens, special ones included; 0 = 4000 pieces or 10004 words, if there are."""
    level: Literal["bpe", "word", "space"] = "bpe"
    """Tokens are pieces of words (bpe), words (word), or what stands between spaces (space)."""
    least: int = 2
    """How often a piece or a word must occur in training to become a token."""
    max_length: int = 100
    """Sentences of more tokens are left out of training, and counted."""

    def __post_init__(self) -> None:
        complain(self.problems())

    def problems(self) -> list[str]:
        """Everything that is wrong with the settings."""
        found = at_least(self, 1, "least", "max_length") + at_least(self, 0, "split_seed")
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
class TextConfig(PartsConfig):
    """Where the text of a language model comes from and how it is read."""

    text: str | None = None
    """A file, a sentence a line; may be gzip; - is standard input."""
    column: int = 0
    """Of a table with tabs, the column with the text, from 1; 0 = the whole line."""
    unique: bool = False
    """A sentence that occurs on several lines counts once."""
    continuous: bool = False
    """The text is one stream: what was read before a line is remembered in it."""
    chunk: int = 35
    """Continuous: how many tokens the gradient goes back; batch_tokens / chunk streams."""

    def problems(self) -> list[str]:
        found = super().problems() + at_least(self, 1, "chunk") + at_least(self, 0, "column")
        if not self.text:
            found.insert(0, "text is missing: a file with a sentence a line")
        if self.unique and self.continuous:
            found.append("unique is for sentences: a continuous text has its lines in their order")
        return found


@dataclass(frozen=True)
class LabelledConfig(PartsConfig):
    """Where the labelled sentences of a classifier come from."""

    file: str | None = None
    """A file, label and sentence a line, a tab or space between; may be gzip; - is stdin."""
    vectors: str | None = None
    """Word vectors to start from (GloVe, word2vec, fastText); others start at random."""

    def problems(self) -> list[str]:
        found = super().problems()
        if not self.file:
            found.insert(0, "file is missing: a label and a sentence a line")
        if self.vectors and self.level == "bpe":
            found.append("vectors are of whole words: level must be word or space, got bpe")
        return found
