"""Word vectors: a vocabulary and one matrix; near words; a sentence as the average of its words."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regard.errors import RegardError, ShapeError, UnknownWordError, nearest
from regard.pieces.tokenise import tokenise
from regard.record import note
from regard.vectors.file import ReadProgress, read_vectors
from regard.vectors.rows import Matrix
from regard.vectors.save import write_vectors

__all__ = ["FoundWords", "Lookup", "SentenceVector", "Words", "tokenise"]

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class FoundWords:
    """A token of a sentence, and the word of the vocabulary that stands for it."""

    token: str
    word: str
    row: int

    @property
    def lowered(self) -> bool:
        """Whether only the lower-case form was found."""
        return self.token != self.word


@dataclass(frozen=True)
class Lookup:
    """Tokens sorted into those with a vector and those without, each in the sentence's order."""

    found: tuple[FoundWords, ...]
    unknown: tuple[str, ...]

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(f.token for f in self.found)

    @property
    def lowered(self) -> tuple[FoundWords, ...]:
        return tuple(f for f in self.found if f.lowered)


@dataclass(frozen=True)
class SentenceVector(Lookup):
    """The average of the known tokens' vectors, shape (width,), with what it is the average of."""

    vector: Vector


class Words:
    """``len(words)`` different words and their vectors, float32, shape (words, width).

    ``words[word]`` and ``word in words`` want the exact word. ``lookup``, ``find`` and
    ``sentence`` try the lower-case form next, and say so in what they return.
    """

    def __init__(
        self,
        words: Sequence[str],
        vectors: ArrayLike,
        *,
        format: str | None = None,
        repeated: Sequence[str] = (),
    ) -> None:
        self.words = list(words)
        self.vectors = checked(self.words, vectors)
        self.index = {word: row for row, word in enumerate(self.words)}
        self.format = format
        self.repeated = tuple(repeated)
        if len(self.index) < len(self.words):
            twice, times = Counter(self.words).most_common(1)[0]
            raise RegardError(f"every word must be there once; {twice!r} is there {times} times")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        format: str = "auto",
        *,
        encoding: str = "utf-8",
        progress: ReadProgress | None = None,
    ) -> Words:
        """Read a GloVe, word2vec or fastText file, plain or gzip, holding the vectors once.

        ``format`` is ``auto``, ``glove``, ``word2vec``, ``word2vec-binary`` or ``fasttext``. Of a
        word that comes again the first row counts; ``repeated`` names the others.
        """
        contents = read_vectors(path, format, encoding, progress)
        return cls(
            contents.words, contents.vectors, format=contents.format, repeated=contents.repeated
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write word2vec text (.txt, .vec) or binary (.bin), with .gz behind it to pack it.

        Every float32 value is read back exactly.
        """
        write_vectors(path, self.words, self.vectors)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    def __getitem__(self, word: str) -> Vector:
        if word not in self.index:
            raise self.unknown(word)
        vector: Vector = self.vectors[self.index[word]]
        return vector

    @property
    def width(self) -> int:
        return int(self.vectors.shape[1])

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """|x| of each row, shape (words,)."""
        squares = np.einsum("ij,ij->i", self.vectors, self.vectors, dtype=np.float64)
        return np.asarray(np.sqrt(squares))

    @property
    def within_start(self) -> bool:
        """Whether no value lies beyond ±1/width, the range in which Gensim's Word2Vec starts.

        Training carries vectors out of it, so a file within it was hardly trained. Vectors of
        fewer than 20 numbers may lie in it by chance: of those nothing is said.
        """
        if self.width < 20:
            return False
        largest = max(float(self.vectors.max()), -float(self.vectors.min()))
        return largest <= 1.01 / self.width  # a few steps of training hardly leave it

    def nearest(self, query: str | ArrayLike, k: int = 10) -> list[tuple[str, float]]:
        """The ``k`` words of the largest cosine x·q / (|x| |q|), the largest first.

        A word given as the query is left out, and so are rows of zeros, which have no direction.
        One product of the matrix with the query: no normalised copy of the matrix is made.
        """
        if k < 1:
            raise RegardError(f"k, the number of near words, must be at least 1; got {k}")
        vector = self[query] if isinstance(query, str) else self.fitting(query)
        length = float(np.linalg.norm(vector.astype(np.float64)))
        if length == 0:
            raise RegardError("a vector of zeros has no direction, so no word is near it")
        unit = (vector / length).astype(np.float32)
        scores = np.full(len(self), -np.inf)
        np.divide(self.vectors @ unit, self.norms, out=scores, where=self.norms > 0)
        if isinstance(query, str):
            scores[self.index[query]] = -np.inf
        best = np.argpartition(-scores, min(k, len(self) - 1))[:k]
        best = best[np.lexsort((best, -scores[best]))]
        return [
            (self.words[row], float(np.clip(scores[row], -1, 1)))
            for row in best
            if np.isfinite(scores[row])
        ]

    def fitting(self, query: ArrayLike) -> Vector:
        vector = np.asarray(query, dtype=np.float32)
        if vector.shape != (self.width,):
            raise ShapeError(f"a query must have shape ({self.width},), got {vector.shape}")
        if not np.isfinite(vector).all():
            raise RegardError("a query must be finite; it holds NaN or infinity")
        return vector

    def find(self, token: str) -> FoundWords | None:
        """The word for a token: the token itself, else its lower-case form, else none."""
        for word in (token, token.lower()):
            if word in self.index:
                return FoundWords(token, word, self.index[word])
        return None

    def lookup(self, tokens: Iterable[str]) -> Lookup:
        """Every token, either with its row or named as unknown."""
        results = [(token, self.find(token)) for token in tokens]
        return Lookup(
            tuple(found for _, found in results if found),
            tuple(token for token, found in results if not found),
        )

    def sentence(self, text: str) -> SentenceVector:
        """The average (1/m) Σ x_t over the m known tokens of ``text``, with the unknown ones."""
        seen = self.lookup(tokenise(text))
        if not seen.found:
            what = "no word of the sentence has a vector, so there is nothing to average"
            tokens = list(dict.fromkeys(seen.unknown))[:10]
            listed = ", ".join(f"{token!r}{self.suggest(token)}" for token in tokens)
            raise UnknownWordError(f"{what}; unknown: {listed}")
        rows = self.vectors[[found.row for found in seen.found]]
        return SentenceVector(seen.found, seen.unknown, average(rows).astype(np.float32))

    def unknown(self, word: str) -> UnknownWordError:
        what = f"{word!r} is not among the {len(self):,} words"
        return UnknownWordError(what + self.suggest(word))

    def suggest(self, word: str) -> str:
        """``; did you mean …?`` by spelling.

        Comparing with every one of a million words would take half a minute, so only words of a
        like length and beginning are compared, the first (in most files, the commonest) 20,000.
        """
        if word.lower() in self.index:
            return f"; did you mean {word.lower()!r}?"
        starts = {word[:1].lower(), word[1:2].lower()}
        near = (w for w in self.words if abs(len(w) - len(word)) <= 2 and w[:1].lower() in starts)
        return nearest(word, [w for w, _ in zip(near, range(20_000), strict=False)])


def average(vectors: ArrayLike) -> NDArray[np.float64]:
    """(1/m) Σ x_t of m ``vectors`` (m, width), in float64."""
    mean: NDArray[np.float64] = np.asarray(vectors).mean(axis=0, dtype=np.float64)
    note(
        "average",
        mean,
        axes=("width",),
        formula="(x_1 + … + x_m) / m",
        meaning="One vector for the sentence, the same whatever the order of its words.",
    )
    return mean


def checked(words: Sequence[str], vectors: ArrayLike) -> Matrix:
    """``vectors`` as a read-only float32 matrix, one finite row a word."""
    with np.errstate(over="ignore"):
        matrix = np.asarray(vectors, dtype=np.float32).view()
    if not words:
        raise RegardError("a vocabulary needs at least one word; got none")
    if matrix.ndim != 2 or len(matrix) != len(words) or not matrix.shape[1]:
        what = f"vectors must have the shape ({len(words)} words, width)"
        raise ShapeError(f"{what}, got {matrix.shape}")
    for start in range(0, len(matrix), 8192):  # in blocks: the mask of all would be a quarter copy
        bad = ~np.isfinite(matrix[start : start + 8192]).all(axis=1)
        if bad.any():
            word = words[start + int(bad.argmax())]
            raise RegardError(f"the vector of {word!r} holds NaN or a value beyond float32")
    matrix.flags.writeable = False
    return matrix
