"""Translation: sentences in, sentences out, with the words that each word looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError, DataError
from regard.models.sampling import Sampling
from regard.models.translators.base import Hypothesis, Translator
from regard.models.translators.beam import evaluating, hypotheses
from regard.models.translators.sample import sample_batch
from regard.pieces.grouping import by_word
from regard.pieces.marks import from_labels
from regard.pieces.pieces import Pieces
from regard.pieces.text import learned_pieces, written_pieces
from regard.pieces.tokenizer import BOS, EOS, SPECIAL, UNK, Tokenizer
from regard.record import record
from regard.trace import Array, Step, Trace


@dataclass(frozen=True)
class Translation:
    """One translated sentence.

    ``alignment`` is (target, source): row i says which source tokens the model looked at when it
    chose target token i; each row sums to 1. The last source token is the end mark ``</s>``.
    """

    text: str
    source: list[str]
    target: list[str]
    alignment: Array
    score: float
    """log p / length^length_penalty"""
    read: Pieces
    """The sentence as the model read it, its end mark included."""
    copies: Array | None = None
    """With a pointer, (target, source): the share of each target token that was copied from each
    source token. A row sums to what was copied of it; the rest was said from the vocabulary."""
    gate: Array | None = None
    """With a pointer, (target,): the share that the vocabulary had in the choice."""

    def to_dict(self) -> dict[str, Any]:
        found = {
            "text": self.text,
            "source": self.source,
            "target": self.target,
            "alignment": _rounded(self.alignment),
        }
        if self.copies is not None and self.gate is not None:
            found["copied"] = _rounded(self.copies.sum(-1))
            found["copied_from"] = _rounded(self.copies)
            found["gate"] = _rounded(self.gate)
        return found


def _rounded(numbers: Array) -> Any:
    return numbers.astype(np.float64).round(6).tolist()


class OwnCopies(NamedTuple):
    """Of one hypothesis, in pieces: ``gate`` (target,) and ``shares`` (target, source)."""

    gate: Array
    shares: Array


MOST_BEAM = 100
"""Hypotheses of a sentence: a step holds their scores of every word of the vocabulary."""
MOST_TOKENS = 512
"""Of one sentence, its end included: five times what the models have seen."""


def translate_texts(
    model: Translator, tokens: Tokenizer, texts: Sequence[str], **options: Any
) -> Iterator[Translation]:
    """The translation of each of ``texts``, in their order; ``options`` as for
    :func:`n_best_texts`."""
    return (found[0] for found in n_best_texts(model, tokens, texts, **options))


def n_best_texts(
    model: Translator,
    tokens: Tokenizer,
    texts: Sequence[str],
    *,
    best: int = 1,
    beam: int = 5,
    length_penalty: float = 1.0,
    sampling: Sampling | None = None,
    batch: int = 64,
    words: bool = True,
    layer: int | None = None,
    head: int | None = None,
) -> Iterator[list[Translation]]:
    """The ``best`` translations of each of ``texts`` in their order, ``batch`` texts at a time.

    They come from a beam search, the best first, or with ``sampling`` as they are drawn. Sentences
    of like length go together, within a window of 32 batches, so that a long file streams. An empty
    sentence has one empty translation. With ``words`` the pieces of a word are one token: what it
    looked at is the mean over its pieces, what was looked at is their sum.
    """
    _check_widths(best, beam)
    search: dict[str, Any] = {"length_penalty": length_penalty, "layer": layer, "head": head}
    for start in range(0, len(texts), 32 * batch):
        sources = _sources(tokens, texts[start : start + 32 * batch], start + 1)
        found: dict[int, list[tuple[Hypothesis, OwnCopies | None]]] = {}
        order = sorted((i for i, s in enumerate(sources) if len(s)), key=lambda i: len(sources[i]))
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            padded = padded_rows(model, [sources[i].ids for i in rows])
            if sampling is None:
                results = hypotheses(model, *padded, beam=beam, best=best, **search)
            else:
                numbers = [start + i for i in rows]
                results = sample_batch(
                    model, *padded, sampling, numbers=numbers, samples=best, **search
                )
            found.update(zip(rows, _with_copies(model, *padded, results), strict=True))
        for i, source in enumerate(sources):
            if i not in found:
                yield [Translation("", [], [], np.zeros((0, 0), np.float32), 0.0, source)]
                continue
            yield [_finished(tokens, source, *one, words) for one in found[i]]


def said_texts(
    model: Translator,
    tokens: Tokenizer,
    texts: Sequence[str],
    source: Tensor,
    lengths: Tensor,
    found: Sequence[Hypothesis],
) -> list[str]:
    """What each hypothesis says of ``texts``, whose tokens with their ends are ``source`` (B, S):
    the text alone of a :class:`Translation`."""
    if not any(UNK in one.ids for one in found):  # nothing that must be looked up in the source
        return [tokens.decode(one.ids) for one in found]
    copied = _with_copies(model, source, lengths, [[one] for one in found])
    read = learned_pieces(tokens, texts)
    rows = zip(read, copied, strict=True)
    return [_said(tokens, pieces, one.ids, own)[1] for pieces, ((one, own),) in rows]


def _check_widths(best: int, beam: int) -> None:
    for what, count in (("beam", beam), ("n-best", best)):
        if count > MOST_BEAM:
            raise ConfigError(
                f"{what} may be {MOST_BEAM} at most, got {count}: time and memory grow with it, "
                "and translations do not get better beyond some ten hypotheses"
            )


def _sources(tokens: Tokenizer, texts: Sequence[str], first: int) -> list[Pieces]:
    """The pieces of each text, its end mark included; the texts are counted from ``first``."""
    sources = [
        pieces.before(SPECIAL[EOS], EOS) if len(pieces) else pieces
        for pieces in learned_pieces(tokens, texts)
    ]
    for number, pieces in enumerate(sources, first):
        if len(pieces) > MOST_TOKENS:
            raise DataError(
                f"a sentence to translate may have {MOST_TOKENS:,} tokens, number {number:,} "
                f"has {len(pieces):,}: the time grows with the square; give one sentence a line"
            )
    return sources


def padded_rows(model: Translator, rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    """Rows of ids (B, longest) where the model is, and their lengths."""
    lengths = torch.tensor([len(ids) for ids in rows])
    padded = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
    for row, ids in enumerate(rows):
        padded[row, : len(ids)] = torch.tensor(ids)
    device = next(model.parameters()).device
    return padded.to(device), lengths.to(device)


@torch.no_grad()
def _with_copies(
    model: Translator, source: Tensor, lengths: Tensor, results: list[list[Hypothesis]]
) -> list[list[tuple[Hypothesis, OwnCopies | None]]]:
    """Each hypothesis with its gates and copies, if the model has a pointer: it reads once more
    what it said, the first hypotheses of all sources together, then the second."""
    if model.pointer is None:
        return [[(one, None) for one in each] for each in results]
    found: list[list[tuple[Hypothesis, OwnCopies | None]]] = [[] for _ in results]
    for place in range(max(len(each) for each in results)):
        rows = [i for i, each in enumerate(results) if place < len(each)]
        said = [[BOS, *results[i][place].ids, EOS] for i in rows]
        with evaluating(model):
            copied = model.copies(source[rows], lengths[rows], padded_rows(model, said)[0])
        assert copied is not None
        for row, i in enumerate(rows):
            n, length = len(results[i][place].ids), int(lengths[i])
            own = copied.gate[row, :n], copied.shares[row, :n, :length]
            found[i].append((results[i][place], OwnCopies(*(x.cpu().float().numpy() for x in own))))
    return found


def _finished(
    tokens: Tokenizer, source: Pieces, found: Hypothesis, copied: OwnCopies | None, words: bool
) -> Translation:
    target, text = _said(tokens, source, found.ids, copied)
    before, after = source.labels, target.labels
    weights = np.zeros((len(target), len(source)), np.float32)
    if found.weights is not None:
        weights = found.weights[: len(target)].float().numpy()
    gate, copies = (None, None) if copied is None else copied
    if words:
        before, after = ([word.text for word in side.words] for side in (source, target))
        weights = _of_words(weights, source, target)
        copies = None if copies is None else _of_words(copies, source, target)
        gate = None if gate is None else by_word(gate, target.words, mean=True)
    return Translation(text, before, after, weights, found.score, source, copies, gate)


def _of_words(pieces: Array, source: Pieces, target: Pieces) -> Array:
    """(target, source) of pieces, of their words."""
    return by_word(by_word(pieces.T, source.words, mean=False).T, target.words, mean=True)


def _said(
    tokens: Tokenizer, source: Pieces, ids: list[int], copied: OwnCopies | None
) -> tuple[Pieces, str]:
    """What was said, each unknown word that was copied as it stands in the source."""
    if copied is None or UNK not in ids:
        return written_pieces(tokens, ids), tokens.decode(ids)
    labels = tokens.pieces(ids)
    for place, token in enumerate(ids):
        if token == UNK and copied.shares[place].any():
            labels[place] = source.labels[int(copied.shares[place].argmax())]
    said = [label for label in labels if label not in SPECIAL]
    return from_labels(labels), tokens.join(said)


def trace_of(model: Translator, tokens: Tokenizer, found: Translation) -> Trace:
    """Every step of the model as it says the translation that it found, and the alignment."""
    source = found.read
    said = [BOS, *tokens.encode(found.text)]
    with torch.no_grad(), record(model.config.model, source.labels) as trace:
        ids, lengths = torch.tensor([source.ids]), torch.tensor([len(source)])
        model.eval()(ids, lengths, torch.tensor([said]))
    name_targets(trace, tokens.pieces(said), source.labels)
    step = Step(
        "words",
        found.alignment,
        axes=("target", "source"),
        labels={"target": found.target, "source": found.source},
        formula="a[i,j]",
        meaning="Which source word each target word looked at.",
    )
    trace.steps.append(step)
    if found.copies is not None:
        step = Step(
            "copied",
            found.copies,
            axes=("target", "source"),
            labels={"target": found.target, "source": found.source},
            formula="(1 − g) a[i,j] [x_j = y_i] / p(y_i)",
            meaning="How much of each target word was copied from which source word.",
        )
        trace.steps.append(step)
    return trace


def name_targets(trace: Trace, said: list[str], source: list[str]) -> None:
    """Say which tokens the rows and columns of a decoder's attention are.

    A Transformer's row i has read said[i]; a row of Bahdanau's alignment chooses the next token.
    """
    chosen = [*said[1:], SPECIAL[EOS]]
    for step in trace:
        if not {"query", "key"} <= {*step.axes}:
            continue
        if step.name == "alignment":
            step.labels = {"query": chosen, "key": source}
        elif step.scope.startswith("decoder"):
            step.labels = {"query": said, "key": source if "cross" in step.scope else said}
