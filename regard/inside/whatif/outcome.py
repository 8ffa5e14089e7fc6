"""Outcome: what a model, as it is now, puts out of a text."""

from __future__ import annotations

from typing import Any

from regard.errors import DataError
from regard.inside.prediction import kind_of, predictions, row_of, scores_of, sentence_vector
from regard.inside.textmodel import TextModel
from regard.pieces.outcome import ModelOutcome
from regard.pieces.pieces import Pieces
from regard.pieces.whole import NEXT, SENTENCE

TOP = 10
"""Words or labels that are kept of all."""


def outcome_of(
    model: TextModel, tokens: Pieces, written: Pieces | None, output: Any, temperature: float
) -> ModelOutcome:
    """Of a pass over ``tokens`` that gave ``output``, of the last token at least; ``written`` is
    what the model wrote by itself, if it has a decoder beside its encoder."""
    if written is not None:
        words = " ".join(word.text for word in written.words[1:])  # the first begins the text
        return ModelOutcome("translation", text=(written.text or words).strip())
    kind = kind_of(model)
    if kind == SENTENCE:
        return ModelOutcome(kind, vector=sentence_vector(output))
    try:
        row = -1 if kind == NEXT else row_of(model, kind, tokens)
        scores = scores_of(kind, output, row)
    except DataError as error:  # no blank in the text
        return ModelOutcome(kind, reason=str(error))
    assert scores is not None
    return ModelOutcome(kind, tuple(predictions(model, kind, scores, temperature, TOP)))
