"""A whole way made by hand: two layers of width 3."""

from __future__ import annotations

import numpy as np

from regard.pieces.pieces import Pieces
from regard.pieces.whole import (
    Prediction,
    ScorePart,
    ScoreParts,
    WholeProof,
    WholeWay,
)
from regard.trace import Step, Trace

NAMES = ("input", "attention", "after_attention", "feed_forward", "hidden")


def way() -> Trace:
    steps = [Step("word_vector", np.array([3.0, 4.0, 0.0]), axes=("width",), formula="E w")]
    for layer in (0, 1):
        for place, name in enumerate(NAMES):
            value = np.array([3.0, 4.0, 0.0]) * (place + 1) * (layer + 1)
            made = Step(name, value, axes=("width",), formula=f"f_{name}", scope=f"layer {layer}")
            steps.append(made)
    return Trace(steps, mechanism="by hand", tokens=["the", "cat"])


def by_hand() -> WholeWay:
    """The next word after "cat": "sat" with 0.75, "ran" with 0.25."""
    sat = Prediction("sat", 7, 2.0, 0.75)
    parts = (
        ScorePart("word", 0.5),
        ScorePart("attention", 1.0, 0, 1, (0.25, 0.75)),
        ScorePart("attention", -0.5, 1, 0, (-0.5, 0.0)),
        ScorePart("feed-forward", 1.25, 1),
        ScorePart("biases", -0.25),
    )
    return WholeWay(
        "toy",
        "next word",
        (2, 2, 3),
        Pieces.plain(["the", "cat"], [11, 13]),
        1,
        "before",
        way(),
        WholeProof(4, 2e-7, "scores", 17, 3e-6),
        places="attention turns queries and keys by their positions (rotary)",
        predictions=[sat, Prediction("ran", 5, 0.9, 0.25)],
        of=17,
        parts=ScoreParts(sat, parts, 2.0, whole=True),
    )
