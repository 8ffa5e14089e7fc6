"""Examples: what is read of a file, divided into a part to train on and parts to check with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from regard.errors import DataError
from regard.train.data.config import PartsConfig
from regard.train.data.split import Part, groups, keys_of, places


class TextExample(Protocol):
    """A sentence, a pair of them, a sentence with its label: one line of a file."""

    @property
    def number(self) -> int:
        """The line that it came from, from 1."""

    def texts(self) -> tuple[str, ...]:
        """What becomes tokens."""

    def line(self) -> str:
        """How it stands in a file."""


E = TypeVar("E", bound=TextExample)


@dataclass(frozen=True)
class Examples(Generic[E]):
    """Those of one file, and what of it is not among them."""

    rows: list[E]
    empty: list[int]
    """Lines without text, or with nothing on a side."""
    repeated: int = 0
    """Lines left out because their sentence had occurred before."""

    def digest(self) -> str:
        """A fingerprint of the examples in their order."""
        # Of pairs the last line ends too: runs are known by this, and it must stay as it was.
        end = "\n" if self.rows and len(self.rows[0].texts()) > 1 else ""
        text = "\n".join(row.line() for row in self.rows) + end
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Dataset(Generic[E]):
    """Examples in their parts, before any token."""

    train: list[E]
    valid: list[E]
    test: list[E]
    empty: list[int]
    """Lines of the training file that are no example."""
    repeated: int
    """Lines left out of it because they repeat an earlier one."""
    digest: str
    """A fingerprint of everything."""
    overlap: int
    """Training examples that share a sentence with a validation or test file of the user's."""


Divide = Callable[[Sequence[E], float, float, int], list[Part]]
"""The part of each example, given shares to validate and to test on, and a seed."""


def by_group(rows: Sequence[E], valid: float, test: float, seed: int) -> list[Part]:
    """About these shares are set aside; examples that share a sentence go together."""
    what = "pairs" if len(rows[0].texts()) > 1 else "lines"
    return places(groups([keys_of(row.texts()) for row in rows]), valid, test, seed, what)


def in_order(rows: Sequence[E], valid: float, test: float, seed: int) -> list[Part]:
    """A stream must not be torn: its end is set aside, the last lines to test on."""
    held = [max(1, round(share * len(rows))) if share else 0 for share in (valid, test)]
    first = len(rows) - sum(held)
    if first < 1:
        lines = "1 line is" if len(rows) == 1 else f"{len(rows)} lines are"
        raise DataError(f"{lines} too few to set {sum(held)} of them aside")
    parts: list[tuple[Part, int]] = [("train", first), ("valid", held[0]), ("test", held[1])]
    return [part for part, count in parts for _ in range(count)]


def divided(
    main: Examples[E],
    valid: Examples[E] | None,
    test: Examples[E] | None,
    config: PartsConfig,
    divide: Divide[E] = by_group,
) -> Dataset[E]:
    """The examples to train, to validate and to test on; the user's own files are kept whole."""
    given = [part for part in (valid, test) if part]
    shares = 0.0 if valid else config.valid_share, 0.0 if given else config.test_share
    found = divide(main.rows, *shares, config.split_seed)
    train, held, last = (
        [row for row, place in zip(main.rows, found, strict=True) if place == part]
        for part in ("train", "valid", "test")
    )
    known = {key for part in given for row in part.rows for key in keys_of(row.texts())}
    return Dataset(
        train,
        valid.rows if valid else held,
        test.rows if test else last,
        main.empty,
        main.repeated,
        " ".join(part.digest()[:16] for part in (main, *given)),
        sum(not known.isdisjoint(keys_of(row.texts())) for row in train) if known else 0,
    )
