"""Label scores: how many labels of pieces are right, the model's beside those of guesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.models.guesses import LinearGuesses, WordGuesses
from regard.models.labeller import Labeller
from regard.pieces.tokenizer import Tokenizer
from regard.train.data.corpus import encode
from regard.train.data.tagged import Tagged
from regard.train.tasks.classify import Confusion
from regard.train.tasks.label import TaggedTokens, said_labels
from regard.train.tasks.labelpieces import NumberPieces
from regard.train.tasks.spans import marks_spans, span_f1

Numbers = NDArray[np.int64]
COMMONEST = "commonest label"


def word_scores(
    model: Labeller, tokens: Tokenizer, guesses: WordGuesses, rows: Sequence[Tagged]
) -> dict[str, Any]:
    """Accuracy over words, of those that training had and of others; F1 of spans, if there are."""
    labels = model.config.labels
    ids = encode([row.texts()[0] for row in rows], tokens)
    part = TaggedTokens(rows, ids, tokens, labels)
    said = {
        COMMONEST: [np.full(len(row.words), guesses.commonest) for row in rows],
        "the word alone": [np.array([guesses.say(word) for word in row.words]) for row in rows],
        model.config.model: said_labels(model, part),
    }
    known = np.array([word in guesses.words for row in rows for word in row.words])
    right = [np.array(each) for each in part.labels]
    found = scores(labels, right, said, {"known": known, "unknown": ~known})
    if marks_spans(labels):
        for way in found["ways"]:
            named = [[labels[i] for i in sentence] for sentence in said[way["name"]]]
            way["f1"] = span_f1([row.labels for row in rows], named)
    return {"sentences": len(rows), "of": "words", **found}


def piece_scores(
    model: Labeller, guesses: LinearGuesses, part: NumberPieces, alone: str
) -> dict[str, Any]:
    """The same for pieces that are numbers; ``alone`` is what the linear map of one is called."""
    shape = part.labels.shape
    said = {
        COMMONEST: list(np.full(shape, guesses.commonest)),
        alone: part.guessed(guesses),
        model.config.model: said_labels(model, part),
    }
    return scores(model.config.labels, list(part.labels), said)


def mean_iou(right: Numbers, said: Numbers, labels: int) -> float:
    """Intersection over union of the pieces that have a label and those that were said to, on
    average over the labels that occur in either."""
    counts = np.zeros((labels, labels))
    np.add.at(counts, (right, said), 1)
    both = counts.diagonal()
    either = counts.sum(0) + counts.sum(1) - both
    return float((both[either > 0] / either[either > 0]).mean())


def scores(
    labels: Sequence[str],
    right: Sequence[Numbers],
    said: Mapping[str, Sequence[Numbers]],
    groups: Mapping[str, NDArray[np.bool_]] | None = None,
) -> dict[str, Any]:
    """The accuracy of each way to label (the last is the model's), of all pieces and of
    ``groups`` of them, and which label the model took for which."""
    true = np.concatenate(right)
    ways = []
    for name, each in said.items():
        hits = np.concatenate(each) == true
        parts = {key: float(hits[of].mean()) for key, of in (groups or {}).items() if of.any()}
        ways.append({"name": name, "accuracy": float(hits.mean()), **parts})
        if groups is None:
            ways[-1]["iou"] = mean_iou(true, np.concatenate(each), len(labels))
    own = np.concatenate(list(said.values())[-1])
    confusion = Confusion.of(labels, true.tolist(), own.tolist())
    return {
        "labelled": len(true),
        "shares": {key: float(of.mean()) for key, of in (groups or {}).items()},
        "ways": ways,
        "labels": list(labels),
        "confusion": confusion.counts.tolist(),
        "recall": confusion.recall(),
        "precision": confusion.precision(),
        "shown": [],
    }
