"""What a recurrent step goes on to: from its state to the words or labels that are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from regard.inside.prediction import kind_of, predictions
from regard.inside.textmodel import TextModel
from regard.pieces.whole import LABEL, Predicted
from regard.trace import Array, Step


@dataclass(frozen=True)
class EndingRequest:
    """How a prediction is shown."""

    temperature: float = 1.0
    top: int = 10
    whole: bool = False
    """Follow the word through all layers, and say what is predicted at every step."""


def predicted(model: TextModel, scores: Array, asked: EndingRequest) -> Predicted:
    """The likeliest words or labels, of the ``scores`` of all."""
    kind = kind_of(model)
    found = predictions(model, kind, scores, asked.temperature, asked.top)
    return Predicted(kind, found, len(scores), asked.temperature)


def prediction_steps(found: Predicted, symbol: str) -> list[Step]:
    """Scores and probabilities of those that are shown; ``symbol``: what they are made from."""
    what = "label" if found.kind == LABEL else "word"
    heat = "" if found.temperature == 1 else f" / {found.temperature:g}"
    count = len(found.predictions)
    shown = "." if count == found.of else f"; these are the {count} best of {found.of:,}."
    labels = {"word": [one.word for one in found.predictions]}

    def step(name: str, values: Sequence[float], formula: str, meaning: str) -> Step:
        value: Array = np.array(values)
        return Step(
            name, value, axes=("word",), labels=labels, formula=formula, meaning=meaning + shown
        )

    return [
        step(
            "logits",
            [one.score for one in found.predictions],
            f"z_w = U_w · {symbol} + b_w",
            f"How well each {what} fits what was made of the text",
        ),
        step(
            "probabilities",
            [one.probability for one in found.predictions],
            f"p_w = exp(z_w{heat}) / sum_v exp(z_v{heat})",
            f"The scores of all {what}s become shares of 1",
        ),
    ]
