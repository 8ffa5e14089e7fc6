"""Whole: follow one word through a model, from its token to what the model puts out.

One pass is recorded, and read by the numbers it made (inside/anatomy). Then the word's vector is
computed once more from the parts that were found, added up from the word's vector on, and what
comes out is compared with a second pass of the model in which nothing is recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from regard.errors import DataError, ModelError, RegardError
from regard.inside.anatomy.anatomy import Anatomy, dissect
from regard.inside.anatomy.linear import numbers
from regard.inside.explain.parts import score_parts
from regard.inside.explain.waytrace import way_trace
from regard.inside.prediction import (
    kind_of,
    last_vectors,
    prediction,
    predictions,
    row_of,
    scores_of,
    sentence_vector,
    word_id,
)
from regard.inside.textmodel import TextModel
from regard.pieces.pieces import Pieces
from regard.pieces.whole import LABEL, SENTENCE, Prediction, WholeProof, WholeWay
from regard.trace import Array

ROTARY = "attention turns queries and keys by their positions (rotary)"
DISTANCE = "attention adds to its scores a number for the distance"
NOWHERE = "nothing is added: attention may know it in another way"
FAR = 1e-3
"""How far what is added up may be from the model's own numbers, in units of the largest."""


def explain_whole(
    model: TextModel,
    text: str,
    word: str | None = None,
    *,
    temperature: float = 1.0,
    top: int = 10,
    parts: bool = False,
    said: str | None = None,
    target: str | None = None,
) -> WholeWay:
    """The way of ``word`` (or of the token whose vector the prediction is made from).

    ``parts``: also split the score of the predicted word, or of ``said``, over what wrote it.
    ``target``: what a translator's decoder reads; what it writes by itself if nothing is given.
    """
    reading, source, kind = model.read(text), None, kind_of(model)
    if model.has_both:
        reading, source = model.target(reading, target), reading
    elif target is not None:
        raise RegardError(
            f"--target is what a translator's decoder reads: {model.title} is no translator"
        )
    row = followed(model, kind, reading, word)
    anatomy, recorded = _dissected(model, reading, source, row)
    own = _run(model, reading, source)  # nothing recorded
    scores = scores_of(kind, own, row)
    whole = WholeWay(
        model.title,
        kind,
        (len(anatomy.layers), heads_of(anatomy), len(anatomy.stem.made)),
        reading,
        row,
        anatomy.layout,
        way_trace(anatomy, model.title, reading, row),
        proved(anatomy, row, (kind, recorded), own),
        places_of(anatomy, model.network),
        temperature=temperature,
        source=source,
    )
    if kind == SENTENCE:
        whole.sentence = sentence_vector(own)
    else:
        assert scores is not None
        whole.predictions = predictions(model, kind, scores, temperature, top)
        whole.of = len(scores)
    if source is not None:
        every = [scores_of(kind, own, i) for i in range(len(reading))]
        best = [predictions(model, kind, s, temperature, 1)[0] for s in every if s is not None]
        whole.steps = best
    if parts:
        _add_parts(whole, model, anatomy, scores, said)
    return whole


def _run(model: TextModel, reading: Pieces, source: Pieces | None) -> Any:
    return model.run(reading) if source is None else model.run(source, reading)


def _dissected(
    model: TextModel, reading: Pieces, source: Pieces | None, row: int
) -> tuple[Anatomy, Any]:
    """The way of a token, and what the pass gave in which it was recorded."""
    output: list[Any] = []
    part = "" if source is None else "decoder"

    def run() -> None:
        output.append(_run(model, reading, source))

    return dissect(model.network, run, reading.ids, row, part), output[0]


def _add_parts(
    whole: WholeWay, model: TextModel, anatomy: Anatomy, scores: Array | None, said: str | None
) -> None:
    """Who said it."""
    if scores is None or whole.kind == LABEL:
        raise ModelError(
            f"{whole.model} puts out the {whole.kind}: only the score of a word is split into parts"
        )
    word = whole.predictions[0]
    if said is not None:
        word = prediction(model, whole.kind, scores, whole.temperature, word_id(model, said))
    whole.parts = score_parts(anatomy, _before_cap(anatomy, word, whole), whole.model)


def followed(model: TextModel, kind: str, reading: Pieces, word: str | None) -> int:
    """The token to follow: the last of the word, or the one that the model predicts from."""
    if word is not None:
        return reading.word(word)[0].stop - 1
    if kind != SENTENCE:
        return row_of(model, kind, reading)
    said = [i for i, silent in enumerate(reading.silent) if not silent]
    if not said:
        raise DataError(f"there is no word in the text that {model.title} can read")
    return said[-1]


def similarity(model: TextModel, whole: WholeWay, text: str) -> None:
    """Compare with a second sentence."""
    if whole.sentence is None:
        raise RegardError(
            f"{whole.model} puts out the {whole.kind}: only of a model that puts out a vector "
            "can two sentences be compared"
        )
    other = sentence_vector(model.run(model.read(text)))
    whole.other = text, float(whole.sentence @ other)


def _before_cap(anatomy: Anatomy, said: Prediction, whole: WholeWay) -> Prediction:
    """The score that the parts add up to: a model may change its scores afterwards."""
    scorer = anatomy.ending.scorer
    if scorer is None:
        return said
    direction, bias = scorer.direction(said.id)
    own = float(direction @ anatomy.ending.made + bias)
    if abs(own - said.score) <= 1e-3 * max(1.0, abs(own)):
        return said
    whole.notes.append(
        f"The model changes its scores once more (a scale or a soft cap): {own:.4f} becomes "
        f"{said.score:.4f}. The parts are those of {own:.4f}."
    )
    return Prediction(said.word, said.id, own, said.probability)


def proved(anatomy: Anatomy, row: int, recorded: tuple[str, Any], own: Any) -> WholeProof:
    """What the parts add up to, from the word's vector on, compared with the model's own pass."""
    kind, output = recorded
    x = anatomy.stem.total
    for step in anatomy.stem.maps:
        x = step(x)
    for part in anatomy.sublayers:
        x = x + part.adds
        x = x if part.norm_after is None else part.norm_after(x)
    for step in anatomy.ending.maps:
        x = step(x)
    what, made, expected = "numbers of the last vector", x, anatomy.ending.made
    scores = scores_of(kind, own, row)
    if scores is None:
        expected = numbers(last_vectors(own)[row])
    elif anatomy.ending.scorer is not None:
        found = anatomy.ending.scorer(x)
        if np.abs(found - scores).max() <= FAR * np.abs(scores).max():
            what, made, expected = "scores", found, scores
    apart = float(np.abs(made - expected).max())
    if apart > FAR * float(np.abs(expected).max()):
        raise ModelError(
            f"the parts that were found do not add up to what the model computes: {apart:.1e} "
            "apart; this kind of model is not known"
        )
    if scores is not None:  # where the way to the scores is not known, both passes must give them
        again = scores_of(kind, output, row)
        assert again is not None
        apart = max(apart, float(np.abs(again - scores).max()))
    return WholeProof(len(anatomy.sublayers), anatomy.difference, what, len(expected), apart)


def heads_of(anatomy: Anatomy) -> int:
    """Heads of a layer, 0 if they are not known."""
    found = [len(part.heads.weights) for part in anatomy.sublayers if part.heads is not None]
    return found[0] if found else 0


def places_of(anatomy: Anatomy, network: Any) -> str:
    """How the model knows where a word stands, if not by what is added to its vector."""
    if len(anatomy.stem.parts) > 1:
        return ""
    if any(part.heads is not None and part.heads.bound for part in anatomy.sublayers):
        return DISTANCE
    rotary = any("rotary" in type(module).__name__.lower() for module in network.modules())
    return ROTARY if rotary else NOWHERE
