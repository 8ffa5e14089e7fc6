"""AttentionMap: an attention matrix computed where you look.

The matrix of one head over n tokens has n² weights; its queries and keys have 2 · n · d numbers.
An AttentionMap keeps those and each row's log-sum-exp, so that any weight is one dot product away:

    map[i]                  row i                      map.block(rows, columns)   a tile
    map["it", "animal"]     by token                   map.by_word(words)         words for tokens
    map.pooled(cells)       a coarse picture           map.top(k)                 strongest links
    map.entropy()           how spread each row is     map.received()             who is looked at
    map.dense()             all of it, if it fits      map.difference(other)

    weight[i,j] = exp(score(q_i, k_j) − lse_i)

Weights that exist already (the alignments of an RNN) have the same interface: :class:`StoredMap`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.attention.mask import Mask, as_mask
from regard.attention.rule import Rule, softmax, to_weights
from regard.attention.score import usual_scale
from regard.attention.statistics import largest, statistics
from regard.attention.wanted import PoolGrid, Statistics, Wanted
from regard.errors import RegardError, ShapeError
from regard.text import Word, find_token

MOST_DENSE = 1 << 28
"""Weights that ``dense`` computes without being told to: 1 GiB in float32."""


class Link(NamedTuple):
    """One weight and where it stands."""

    query: int
    key: int
    weight: float


Index = int | slice | str
"""A position, a run of positions, or a token by its text (``the#2`` is the second *the*)."""


class AttentionMap(ABC):
    """The interface: ``block`` is the one thing that differs; the rest is made of blocks."""

    shape: tuple[int, int]
    """(queries, keys)"""
    queries: list[str]
    """A text for each query, if known."""
    keys: list[str]

    @staticmethod
    def from_vectors(query: Tensor, key: Tensor, **options: Any) -> HeadMap:
        """The map of one head's queries (q, d) and keys (k, d): see :class:`HeadMap`."""
        return HeadMap(query, key, **options)

    @staticmethod
    def from_weights(weights: Tensor, **options: Any) -> StoredMap:
        """A map whose weights (queries, keys) exist already: see :class:`StoredMap`."""
        return StoredMap(weights, **options)

    @abstractmethod
    def block(self, rows: slice | tuple[int, int], columns: slice | tuple[int, int]) -> Tensor:
        """The weights of rows × columns, in float32."""

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, place: Index | tuple[Index, Index]) -> Tensor:
        """NumPy's indexing with whole numbers, plain slices and the texts of tokens."""
        row, column = place if isinstance(place, tuple) else (place, slice(None))
        row, column = _number(row, self.queries), _number(column, self.keys)
        part = self.block(_span(row, self.shape[0]), _span(column, self.shape[1]))
        if isinstance(column, int):
            part = part[:, 0]
        return part[0] if isinstance(row, int) else part

    def by_word(self, queries: Sequence[Word], keys: Sequence[Word] | None = None) -> WordMap:
        """The same map between words; ``keys`` are the words of the queries if not given."""
        return WordMap(self, queries, queries if keys is None else keys)

    def row_blocks(self, multiple: int = 1) -> list[tuple[int, int]]:
        """Runs of rows that fit a small budget."""
        size = max(1, (1 << 21) // max(1, self.shape[1]) // multiple) * multiple
        n = self.shape[0]
        return [(start, min(n, start + size)) for start in range(0, n, size)]

    def pooled(self, cells: int = 256, how: str = "max") -> Tensor:
        """A grid of at most cells × cells: the maximum (a thin peak survives) or the mean."""
        if how not in ("max", "mean"):
            raise RegardError(f"how must be 'max' or 'mean', got {how!r}")
        grid = PoolGrid(*self.shape, _positive("cells", cells))
        pools = grid.empty(1, self.block((0, 0), (0, 0)).device)
        for rows in self.row_blocks(grid.rows):
            weights = self.block(rows, (0, self.shape[1])).unsqueeze(0)
            grid.add(pools, weights, rows, (0, self.shape[1]))
        grid.finish(pools)
        return pools[0][0] if how == "max" else pools[1][0]

    def top(self, k: int = 10) -> list[Link]:
        """The k largest weights of the whole map, largest first."""
        found: list[Link] = []
        for rows in self.row_blocks():
            flat = self.block(rows, (0, self.shape[1])).flatten()
            values, places = largest(flat, _positive("k", k))
            found += [
                Link(rows[0] + p // self.shape[1], p % self.shape[1], v)
                for v, p in zip(values.tolist(), places.tolist(), strict=True)
            ]
        return sorted(found, key=lambda link: (-link.weight, link.query, link.key))[:k]

    def entropy(self) -> Tensor:
        """−sum_j a_ij log a_ij of each row, in nats: 0 = one key, log n = all alike."""
        parts = [self.block(rows, (0, self.shape[1])) for rows in self.row_blocks()]
        return torch.cat([torch.special.entr(part).sum(-1) for part in parts])

    def received(self) -> Tensor:
        """sum_i a_ij: the attention that each key gets from all queries together."""
        total = self.block((0, 0), (0, self.shape[1])).sum(0)
        for rows in self.row_blocks():
            total += self.block(rows, (0, self.shape[1])).sum(0)
        return total

    def dense(self, most: int = MOST_DENSE) -> Tensor:
        """All weights (queries, keys); refuses more than ``most`` numbers, saying how large."""
        queries, keys = self.shape
        if queries * keys > most:
            raise RegardError(
                f"the whole map is {queries} x {keys} weights, {queries * keys / 2**28:.1f} GiB "
                f"in float32, more than {most * 4 / 2**30:.1f} GiB; look at a block, a row or a "
                f"pooled picture, or pass dense(most={queries * keys})"
            )
        return self.block((0, queries), (0, keys))

    def difference(self, other: AttentionMap) -> DifferenceMap:
        """This map minus another of the same shape, computed where you look."""
        return DifferenceMap(self, other)

    def plot(self, axes: Any = None, **options: Any) -> Any:
        """Draw it on matplotlib axes: see :func:`regard.views.picture.plot.plot_map`."""
        from regard.show import plot_map

        return plot_map(self, axes, **options)

    def save_html(self, path: str | os.PathLike[str], *, title: str = "") -> None:
        """Write a page that shows it and opens from disk (docs/page.md)."""
        from regard.show import save_map

        save_map(self, path, title)

    def _repr_html_(self) -> str:
        """In a notebook: the page."""
        from regard.show import map_in_notebook

        return map_in_notebook(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape[0]} queries x {self.shape[1]} keys)"


class HeadMap(AttentionMap):
    """The map of one head from its queries (q, d) and keys (k, d)."""

    def __init__(
        self,
        query: Tensor,
        key: Tensor,
        *,
        scale: float | None = None,
        mask: Mask | Tensor | None = None,
        bias: Tensor | None = None,
        softcap: float | None = None,
        lse: Tensor | None = None,
        queries: Sequence[str] = (),
        keys: Sequence[str] = (),
    ) -> None:
        if query.dim() != 2 or key.dim() != 2 or query.shape[-1] != key.shape[-1]:
            raise ShapeError(
                "a map is of one head: queries (q, d) and keys (k, d) of one width, got "
                f"{tuple(query.shape)} and {tuple(key.shape)}"
            )
        rule = as_mask(mask)
        if rule is not None:
            rule.check(query.shape[0], key.shape[0])
        scale = usual_scale(query.shape[-1]) if scale is None else scale
        self.query, self.key = query.detach(), key.detach()
        self.rule = Rule(scale, rule, bias, softcap)
        self.shape = (query.shape[0], key.shape[0])
        self.queries, self.keys = list(queries), list(keys) or list(queries)
        self._lse = lse

    @property
    def lse(self) -> Tensor:
        """log sum_j exp(score_ij) of each row; computed once, in one pass."""
        if self._lse is None:
            self._statistics(Wanted())
        assert self._lse is not None
        return self._lse

    def _statistics(self, wanted: Wanted) -> Statistics:
        """One pass over all scores; what it finds out about each row serves later questions."""
        found = statistics(self.query[None], self.key[None], self.rule, wanted)
        self._lse = found.lse[0]
        return found.each(lambda tensor: tensor[0])

    def block(self, rows: slice | tuple[int, int], columns: slice | tuple[int, int]) -> Tensor:
        down, across = _span(rows, self.shape[0]), _span(columns, self.shape[1])
        scores = self.scores(down, across)
        if across == (0, self.shape[1]):
            # Whole rows have their own sum; a large log-sum-exp has lost a digit in float32.
            return softmax(scores)
        return to_weights(scores, self.lse[slice(*down)])

    def scores(self, rows: slice | tuple[int, int], columns: slice | tuple[int, int]) -> Tensor:
        """The scores of a tile before softmax; −inf where masked."""
        down, across = _span(rows, self.shape[0]), _span(columns, self.shape[1])
        return self.rule.scores(self.query[None], self.key[None], down, across)[0]

    def entropy(self) -> Tensor:
        found = self._statistics(Wanted(entropy=True)).entropy
        assert found is not None
        return found

    def received(self) -> Tensor:
        found = self._statistics(Wanted(received=True)).received
        assert found is not None
        return found

    def pooled(self, cells: int = 256, how: str = "max") -> Tensor:
        if how not in ("max", "mean"):
            raise RegardError(f"how must be 'max' or 'mean', got {how!r}")
        found = self._statistics(Wanted(cells=_positive("cells", cells)))
        pool = found.pooled_max if how == "max" else found.pooled_mean
        assert pool is not None
        return pool


class StoredMap(AttentionMap):
    """A map whose weights exist already, (queries, keys)."""

    def __init__(
        self, weights: Tensor, *, queries: Sequence[str] = (), keys: Sequence[str] = ()
    ) -> None:
        if weights.dim() != 2:
            raise ShapeError(f"a map is (queries, keys), got {tuple(weights.shape)}")
        self.weights = weights.detach().float()
        self.shape = (weights.shape[0], weights.shape[1])
        self.queries, self.keys = list(queries), list(keys)

    def block(self, rows: slice | tuple[int, int], columns: slice | tuple[int, int]) -> Tensor:
        down, across = _span(rows, self.shape[0]), _span(columns, self.shape[1])
        return self.weights[slice(*down), slice(*across)]


class DifferenceMap(AttentionMap):
    """One map minus another."""

    def __init__(self, first: AttentionMap, second: AttentionMap) -> None:
        if first.shape != second.shape:
            raise ShapeError(
                f"only maps of one shape have a difference, got {first.shape} and {second.shape}"
            )
        self.first, self.second = first, second
        self.shape, self.queries, self.keys = first.shape, first.queries, first.keys

    def block(self, rows: slice | tuple[int, int], columns: slice | tuple[int, int]) -> Tensor:
        return self.first.block(rows, columns) - self.second.block(rows, columns)

    def pooled(self, cells: int = 256, how: str = "max") -> Tensor:
        """As of any map, but the maximum is that of the size: more and less count alike."""
        most = super().pooled(cells, how)
        if how == "mean":
            return most
        least = -AttentionMap.pooled(DifferenceMap(self.second, self.first), cells)
        return torch.where(most >= -least, most, least)

    def top(self, k: int = 10) -> list[Link]:
        """The k largest changes of the whole map, more or less, by their size."""
        more = super().top(k)
        less = AttentionMap.top(DifferenceMap(self.second, self.first), k)
        both = {(x.query, x.key): x for x in [*more, *(x._replace(weight=-x.weight) for x in less)]}
        return sorted(both.values(), key=lambda x: (-abs(x.weight), x.query, x.key))[:k]

    def entropy(self) -> Tensor:
        """The first map's entropy of each row less the second's."""
        return self.first.entropy() - self.second.entropy()


class WordMap(AttentionMap):
    """Words for tokens: attention TO a word is the sum over its tokens, FROM a word the mean.

    a[w,v] = mean_{i in w} sum_{j in v} a[i,j], so that a row still sums to 1.
    """

    def __init__(self, tokens: AttentionMap, queries: Sequence[Word], keys: Sequence[Word]) -> None:
        for words, n in zip((queries, keys), tokens.shape, strict=True):
            _check_words(words, n)
        self.tokens = tokens
        self.words = list(queries), list(keys)
        self.shape = len(queries), len(keys)
        self.queries, self.keys = [w.text for w in queries], [w.text for w in keys]

    def block(self, rows: slice | tuple[int, int], columns: slice | tuple[int, int]) -> Tensor:
        down, across = _span(rows, self.shape[0]), _span(columns, self.shape[1])
        places = [w[slice(*s)] for w, s in zip(self.words, (down, across), strict=True)]
        if not all(places):
            return torch.zeros(len(places[0]), len(places[1]))
        spans = [(words[0].start, words[-1].stop) for words in places]
        return word_sums(word_sums(self.tokens.block(*spans), places[1], -1), places[0], -2, True)


def word_sums(weights: Tensor, words: Sequence[Word], axis: int, mean: bool = False) -> Tensor:
    """Sums (or means) over the tokens of each word along ``axis``; ``words`` follow each other."""
    lengths = torch.tensor([word.stop - word.start for word in words])
    if len(words) == weights.shape[axis]:
        return weights
    numbers = torch.arange(len(words)).repeat_interleave(lengths).to(weights.device)
    shape = list(weights.shape)
    shape[axis] = len(words)
    sums = weights.new_zeros(shape).index_add_(axis, numbers, weights)
    if mean:
        sums /= lengths.to(sums).reshape([-1] + [1] * (-1 - axis))
    return sums


def _check_words(words: Sequence[Word], n: int) -> None:
    """Raise unless the words cover positions 0 … n, one after the other."""
    end = 0
    for word in words:
        if word.start != end or word.stop <= word.start:
            raise ShapeError(
                f"words must follow each other without gaps: {word.text!r} must begin at position "
                f"{end} and have tokens, got {word.start} to {word.stop}"
            )
        end = word.stop
    if end != n:
        raise ShapeError(f"the words must cover the map's {n} positions, they end at {end}")


def _number(part: Index, texts: Sequence[str]) -> int | slice:
    if not isinstance(part, str):
        return part
    if not texts:
        raise RegardError(f"this map does not know its tokens: give positions, got {part!r}")
    return find_token(texts, part)[0]


def _span(part: int | slice | tuple[int, int], n: int) -> tuple[int, int]:
    """(first, last) of a whole number or a plain slice, inside 0 … n."""
    if isinstance(part, int):
        if not -n <= part < n:
            raise RegardError(f"position {part} is outside the map: there are {n}, from 0")
        return part % n, part % n + 1
    start, stop, step = (part if isinstance(part, slice) else slice(*part)).indices(n)
    if step != 1:
        raise RegardError(f"a map is cut by plain slices, got a step of {step}")
    return start, max(start, stop)


def _positive(name: str, value: int) -> int:
    if value < 1:
        raise RegardError(f"{name} must be 1 or more, got {value}")
    return value
