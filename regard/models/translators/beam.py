"""Beam search: look for the translation that a model finds most likely.

Greedy search takes the likeliest token at each step. Beam search keeps the best ``beam``
hypotheses of every sentence; a hypothesis is finished when it says EOS. Its score is

    log p(y | x) / |y|^length_penalty          |y| counts the EOS

The ``best`` finished ones of each sentence are kept. A sentence is done when it has ``beam``
finished hypotheses, when none of its live ones can still beat one that is kept, or at
``max_length``; then it leaves the batch. Every number belongs to one sentence alone, so batch size
and order change results only by float rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.models.translators.base import Hypothesis, SearchOptions, Translator
from regard.models.translators.candidates import best_tokens
from regard.pieces.tokenizer import BOS, EOS
from regard.trace import Array


def translate_batch(
    model: Translator, source: Tensor, lengths: Tensor, **search: Any
) -> list[Hypothesis]:
    """The best hypothesis of each of ``source`` (B, S), in order; ``search`` as for
    :func:`hypotheses`."""
    return [found[0] for found in hypotheses(model, source, lengths, **search)]


@torch.no_grad()
def hypotheses(
    model: Translator,
    source: Tensor,
    lengths: Tensor,
    *,
    beam: int = 1,
    best: int = 1,
    length_penalty: float = 1.0,
    max_length: int | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> list[list[Hypothesis]]:
    """The ``best`` hypotheses of each of ``source`` (B, S), in order, the best first.

    ``max_length`` is the most tokens of a hypothesis, EOS included; twice a sentence's own length
    plus 10 if not given. If too few hypotheses are finished by then, the best unfinished ones
    follow them; there may be fewer in all if the model gives no others a chance. ``layer`` and
    ``head`` choose which cross-attention's weights a Transformer returns: by default the mean over
    the heads of the last layer.
    """
    _check(beam, best, length_penalty, max_length)
    with evaluating(model):
        limits = longest(lengths, max_length).cpu().numpy()
        wanted = SearchOptions(beam, best, length_penalty, layer, head)
        if (found := model.search(source, lengths, limits, wanted)) is not None:
            return found
        state = model.start(source, lengths, layer=layer, head=head)
        search = _BeamSearch(limits, beam, best, length_penalty)
        tokens = torch.full_like(lengths, BOS)
        while len(search.active):
            step = model.step(state, tokens)
            rows, said = search.advance(step.logits, step.weights)
            tokens = torch.from_numpy(said).to(lengths.device)
            if rows is not None and len(rows):
                state.select(torch.from_numpy(rows).to(lengths.device))
        return search.results(lengths.cpu().numpy())


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Inside, the model is not in training; afterwards it is again if it was."""
    if not model.training:  # it takes a while to tell every module
        yield
        return
    model.eval()
    try:
        yield
    finally:
        model.train()


def longest(lengths: Tensor, max_length: int | None) -> Tensor:
    """The most tokens of each sentence's translation, EOS included."""
    return 2 * lengths + 10 if max_length is None else torch.full_like(lengths, max_length)


class _BeamSearch:
    """The live hypotheses as arrays (sentences, beams), and the best ends of each sentence.

    Hypotheses are chains of rows: row n after step t continues row ``parents[t][n]`` of the step
    before with ``tokens[t][n]``. Only the best ones of each sentence are ever followed back.
    These are a few numbers a step, and NumPy takes the least time for each.
    """

    def __init__(self, limits: Array, beam: int, best: int, penalty: float) -> None:
        count = len(limits)
        self.limits, self.beam, self.penalty = limits, beam, penalty
        self.active = np.arange(count)
        self.scores = np.zeros((count, 1))
        self.parents: list[Array] = []
        self.tokens: list[Array] = []
        self.weights: list[Tensor | None] = []
        self.found = np.zeros(count, np.int64)
        self.best = np.full((count, best), -math.inf)
        # Where each sentence's best hypotheses end: their length, the row the last token was said
        # from, and that token.
        self.ends = np.zeros((count, best, 3), np.int64)

    def advance(self, logits: Tensor, weights: Tensor | None) -> tuple[Array | None, Array]:
        """Take a step's logits; the rows to go on with (None = as they are) and their tokens."""
        sentences, beams = self.scores.shape
        self.weights.append(weights)
        length, size = len(self.weights), logits.shape[-1]
        wide = 1 if self.beam == 1 else min(2 * self.beam, beams * size)
        scores = torch.from_numpy(self.scores).to(logits.device)
        totals, places = (found.cpu().numpy() for found in best_tokens(logits, scores, wide))
        rows, tokens = np.divmod(places, size)
        rows += np.arange(0, sentences * beams, beams)[:, None]
        ended = tokens == EOS
        if ended.any():
            self._finish(totals, rows, ended, length)
            # The best that go on, in order; a hypothesis says EOS once, so half of them are enough.
            order = ended.argsort(axis=-1, kind="stable")[:, : self.beam]
            totals = np.take_along_axis(np.where(ended, -math.inf, totals), order, 1)
            rows, tokens = (np.take_along_axis(part, order, 1) for part in (rows, tokens))
        else:
            totals, rows, tokens = (part[:, : self.beam] for part in (totals, rows, tokens))
        going = self._going(totals, rows, tokens, length)
        if going is not None:
            self.active, totals = self.active[going], totals[going]
            rows, tokens = rows[going], tokens[going]
        self.scores = np.ascontiguousarray(totals)
        self.parents.append(rows.flatten())
        self.tokens.append(tokens.flatten())
        unchanged = self.beam == 1 and going is None
        return None if unchanged else rows, self.tokens[-1]

    def _finish(self, totals: Array, rows: Array, ended: Array, length: int) -> None:
        """Count the candidates among the first ``beam`` that say EOS, and note the best."""
        ended = ended[:, : self.beam] & (totals[:, : self.beam] > -math.inf)
        if not ended.any():
            return
        self.found[self.active] += ended.sum(-1)
        final = np.where(ended, totals[:, : self.beam], -math.inf) / length**self.penalty
        tokens = np.full_like(rows, EOS)
        self._keep(self.active, final, _ends(length, rows, tokens)[:, : self.beam])

    def _keep(self, sentences: Array, scores: Array, ends: Array) -> None:
        """Of what these sentences have and these ends (sentences, …, 3), keep the best."""
        kept = self.best.shape[1]
        scores = np.concatenate((self.best[sentences], scores), 1)
        order = (-scores).argsort(axis=-1, kind="stable")[:, :kept]
        ends = np.concatenate((self.ends[sentences], ends), 1)
        self.best[sentences] = np.take_along_axis(scores, order, 1)
        self.ends[sentences] = np.take_along_axis(ends, order[..., None], 1)

    def _going(self, totals: Array, rows: Array, tokens: Array, length: int) -> Array | None:
        """The lines of sentences that are not done; None = all of them."""
        top, limits, last = totals[:, 0], self.limits[self.active], self.best[self.active, -1]
        # log p can only fall, and dividing by the greatest length is the most that can help it.
        hopeless = last >= top / limits**self.penalty
        done = hopeless | (length >= limits) | (self.found[self.active] >= self.beam)
        if not done.any():
            return None
        self._cut(np.flatnonzero(done & (last == -math.inf)), totals, rows, tokens, length)
        return np.flatnonzero(~done)

    def _cut(self, lines: Array, totals: Array, rows: Array, tokens: Array, length: int) -> None:
        """These lines' sentences have too few finished hypotheses: unfinished ones go behind."""
        ends, scores = _ends(length, rows, tokens), totals / length**self.penalty
        for line in lines:
            sentence = self.active[line]
            free = np.flatnonzero(self.best[sentence] == -math.inf)[: totals.shape[1]]
            self.best[sentence, free] = scores[line, : len(free)]
            self.ends[sentence, free] = ends[line, : len(free)]

    def results(self, source_lengths: Array) -> list[list[Hypothesis]]:
        """The best hypotheses of each sentence; the first one is there, whatever its score."""
        looked = [None if w is None else w.cpu().numpy() for w in self.weights]
        return [
            [
                self._followed(end, score, looked, length)
                for end, score in zip(ends, scores, strict=True)
                if end[0] and (score > -math.inf or score == scores[0])
            ]
            for ends, scores, length in zip(
                self.ends.tolist(), self.best.tolist(), source_lengths.tolist(), strict=True
            )
        ]

    def _followed(
        self, end: list[int], score: float, looked: list[Array | None], source_length: int
    ) -> Hypothesis:
        """A hypothesis, followed back from its end."""
        length, row, token = end
        ids, rows = [token], []
        for step in range(length - 1, -1, -1):
            weights = looked[step]
            rows.append(None if weights is None else weights[row, :source_length])
            if step:
                ids.append(int(self.tokens[step - 1][row]))
                row = self.parents[step - 1][row]
        finished = token == EOS
        kept = [weights for weights in reversed(rows) if weights is not None]
        return Hypothesis(
            ids[:0:-1] if finished else ids[::-1],
            score,
            torch.from_numpy(np.stack(kept)) if kept else None,
            finished,
        )


def _ends(length: int, rows: Array, tokens: Array) -> Array:
    """(sentences, candidates, 3): where hypotheses of this length end."""
    return np.stack((np.full_like(rows, length), rows, tokens), -1)


def _check(beam: int, best: int, length_penalty: float, max_length: int | None) -> None:
    """Raise, naming every setting that makes no search."""
    problems = []
    if beam < 1:
        problems.append(f"beam must be at least 1, got {beam}")
    elif not 1 <= best <= beam:
        problems.append(f"best must be from 1 to beam, got {best} of {beam}")
    if not 0 <= length_penalty < math.inf:
        problems.append(f"length_penalty must be 0 or more, got {length_penalty}")
    if max_length is not None and max_length < 1:
        problems.append(f"max_length must be at least 1, got {max_length}")
    if problems:
        raise ConfigError("; ".join(problems))
