"""Guesses: a label for each piece without any network, to be named beside every labeller.

Each knows the piece alone and nothing of what stands around it. Labels are their numbers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError

ENDING = 3
"""Letters of the ending by which a word is guessed that training did not have."""
RIDGE = 1e-6
"""What is added to the squares, as a share of each: numbers may depend on one another."""
BEST = 0.1
"""The share of the episodes, those with the most return, that are imitated alone."""
DIGITS = 6


@dataclass(frozen=True)
class WordGuesses:
    """The commonest label of each word; of an unknown one, of different words that end alike."""

    commonest: int
    """Of all words."""
    words: dict[str, int]
    endings: dict[str, int]
    other: int
    """Of different words, for one with an ending that is unknown too."""

    @classmethod
    def of(cls, labelled: Iterable[tuple[str, int]]) -> WordGuesses:
        """What training teaches, word by word."""
        counts: dict[str, Counter[int]] = defaultdict(Counter)
        for word, label in labelled:
            counts[word][label] += 1
        words = {word: _first(found) for word, found in counts.items()}
        endings: dict[str, Counter[int]] = defaultdict(Counter)
        for word, label in words.items():
            endings[word[-ENDING:]][label] += 1
        return cls(
            _first(sum(counts.values(), Counter())),
            words,
            {ending: _first(found) for ending, found in endings.items()},
            _first(Counter(words.values())),
        )

    def say(self, word: str) -> int:
        """The label of a word."""
        return self.words.get(word, self.endings.get(word[-ENDING:], self.other))

    def to_text(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str, labels: int) -> WordGuesses:
        """What :meth:`to_text` gave; ``name`` is the file's, for errors."""
        content = _content(text, name, "commonest", "other")
        words, endings = content.get("words"), content.get("endings")
        if not isinstance(words, dict) or not isinstance(endings, dict):
            raise FileError(f"{name} is no file of guesses: it must have words and endings")
        found = cls(content["commonest"], words, endings, content["other"])
        _check([found.commonest, found.other, *words.values(), *endings.values()], labels, name)
        return found


@dataclass(frozen=True)
class LinearGuesses:
    """The best linear map from the numbers of a piece to its label, by least squares."""

    commonest: int
    weights: NDArray[np.float64]
    """(numbers and 1, labels)"""

    @classmethod
    def of(
        cls, parts: Iterable[tuple[NDArray[np.float32], NDArray[np.int64]]], labels: int
    ) -> LinearGuesses:
        """Fitted to pieces (N, numbers) and their labels (N,), some at once."""
        squares: Any = 0
        products: Any = 0
        counts = np.zeros(labels, np.int64)
        for numbers, right in parts:
            x = _with_one(numbers)
            squares = squares + x.T @ x
            products = products + x.T @ np.eye(labels)[right]
            counts += np.bincount(right, minlength=labels)
        own = np.diag(squares)
        ridge = np.diag(np.where(own > 0, RIDGE * own, 1.0))  # a pixel may always be 0
        weights = np.linalg.solve(squares + ridge, products)
        return cls(int(counts.argmax()), weights)

    def say(self, numbers: NDArray[np.float32]) -> NDArray[np.int64]:
        """The labels of pieces (…, numbers)."""
        said: NDArray[np.int64] = (_with_one(numbers) @ self.weights).argmax(-1)
        return said

    def to_text(self) -> str:
        rows = [[float(f"{w:.{DIGITS}g}") for w in row] for row in self.weights]
        return json.dumps({"commonest": self.commonest, "weights": rows}) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str, labels: int) -> LinearGuesses:
        """What :meth:`to_text` gave; ``name`` is the file's, for errors."""
        content = _content(text, name, "commonest")
        try:
            weights = np.array(content["weights"], np.float64)
        except (KeyError, ValueError, TypeError) as error:
            raise FileError(f"{name} is no file of guesses: {error!r}") from error
        if weights.ndim != 2 or weights.shape[1] != labels:
            raise FileError(f"{name} does not fit: weights must be of {labels} labels")
        _check([content["commonest"]], labels, name)
        return cls(content["commonest"], weights)


@dataclass(frozen=True)
class Imitations:
    """Actions by the last state alone, as they were done on average: behaviour cloning."""

    all: LinearGuesses
    """A linear map of the state, fitted to all steps,"""
    best: LinearGuesses
    """and to those of the tenth of the episodes with the most return."""
    least: float
    most: float
    """The returns of the episodes go from this to that."""

    @classmethod
    def of(
        cls,
        episodes: Sequence[tuple[NDArray[np.float32], NDArray[np.int64]]],
        returns: NDArray[np.float64],
        actions: int,
    ) -> Imitations:
        """Fitted to the states (steps, numbers) and actions (steps,) of episodes."""
        order = np.argsort(-returns, kind="stable").tolist()
        best = [episodes[i] for i in order[: max(1, round(BEST * len(order)))]]
        both = [LinearGuesses.of(part, actions) for part in (episodes, best)]
        return cls(both[0], both[1], float(returns.min()), float(returns.max()))

    def to_text(self) -> str:
        both = {"all": json.loads(self.all.to_text()), "best": json.loads(self.best.to_text())}
        return json.dumps(both | {"least": self.least, "most": self.most}) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str, actions: int) -> Imitations:
        """What :meth:`to_text` gave; ``name`` is the file's, for errors."""
        try:
            content = json.loads(text)
            parts = [json.dumps(content[key]) for key in ("all", "best")]
            least, most = float(content["least"]), float(content["most"])
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{name} is no file of guesses: {error!r}") from error
        both = [LinearGuesses.from_text(each, name, actions) for each in parts]
        return cls(both[0], both[1], least, most)


def _first(counts: Counter[int]) -> int:
    return counts.most_common(1)[0][0]


def _with_one(numbers: NDArray[np.float32]) -> NDArray[np.float64]:
    ones = np.ones((*numbers.shape[:-1], 1))
    return np.concatenate([numbers.astype(np.float64), ones], -1)


def _content(text: str, name: str, *keys: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise FileError(f"{name} is no file of guesses: {error}") from error
    if not isinstance(content, dict) or not all(isinstance(content.get(k), int) for k in keys):
        raise FileError(f"{name} is no file of guesses: it must have {' and '.join(keys)}")
    return content


def _check(numbers: Sequence[Any], labels: int, name: str) -> None:
    if not all(isinstance(n, int) and 0 <= n < labels for n in numbers):
        raise FileError(f"{name} does not fit: it names labels from 0 to {labels - 1} only")
