"""Explained: one head of a model for one word: its steps, how it was chosen, its proof."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from regard.errors import RegardError
from regard.inside.explain.link import Choice
from regard.pieces.pieces import Pieces
from regard.pieces.whole import Predicted, Prediction
from regard.text import Word, number_of
from regard.trace import Array, Trace


@dataclass(frozen=True)
class Proof:
    """How far the explained numbers are from those of the model's own forward pass."""

    numbers: int
    """How many were compared: queries, keys, weights and output of the layer's heads, and what
    the layer hands on."""
    difference: float
    """The largest difference."""
    what: str = (
        "the model's own forward pass (float32, fused attention, nothing recorded) gives the same "
        "queries, keys, weights and outputs"
    )
    """What was compared."""


@dataclass(frozen=True)
class Explained:
    """One head of one layer, for one word of one text."""

    model: str
    shape: tuple[int, int]
    """Layers, and heads of each."""
    reading: Pieces
    """The text whose words attend."""
    layer: int
    head: int
    word: Word
    to: Word
    """The other word of the link."""
    choice: Choice | None
    """How layer and head were chosen, if they were not given."""
    whole: Trace | None
    """Every step of every layer, of a model that regard's own encoder computes."""
    trace: Trace
    """Those that are explained: of the embedding and of this layer, or of one recurrent step."""
    matrix: Array
    """(queries, keys): the weights of this head."""
    scores: Array
    """The scores that they are made of; NaN where there is no key."""
    proof: Proof
    part: str = ""
    """Of a model with an encoder and a decoder: whose attention, or "cross"."""
    recurrent: bool = False
    """Whether it is one step of a network that reads word by word, and has no heads."""
    source: Pieces | None = None
    """What the encoder read, if the words are those of a decoder."""
    predicted: Predicted | None = None
    """Of a recurrent step: what is predicted from it; None of the encoder of a translator."""
    each: tuple[Prediction, ...] = ()
    """The likeliest word at every step of a decoder, if it was asked for."""

    @property
    def crosses(self) -> bool:
        """Whether the words attend to another text than their own."""
        return self.part == "cross"

    @property
    def keys(self) -> Pieces:
        """The text that is attended to."""
        return self.source if self.crosses and self.source is not None else self.reading

    @property
    def given(self) -> Array:
        """What each token of the word gives to the other word, in this head."""
        return given_by(self.matrix, self.word, self.to)

    @property
    def share(self) -> float:
        """What the word gives to the other: the mean over its tokens."""
        return float(self.given.mean())

    @property
    def token(self) -> int:
        """The token whose steps are shown: of a word of several, the one that gives most."""
        return self.word.start + int(self.given.argmax())

    @property
    def weights(self) -> Array:
        """What that token gives to each token, in this head."""
        row: Array = self.matrix[self.token]
        return row

    @property
    def scaled(self) -> Array:
        """The scores that these weights are made of."""
        row: Array = self.scores[self.token]
        return row

    def to_json(self) -> str:
        """The trace, with what is predicted and the proof beside it."""
        content: dict[str, Any] = self.trace.to_dict() | {
            "model": self.model,
            "position": self.token,
            "proof": asdict(self.proof),
        }
        if self.predicted is not None:
            content |= asdict(self.predicted)
        if self.source is not None:
            content["source"] = self.source.labels
        if self.each:
            content["next"] = [asdict(said) for said in self.each]
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace").decode()


def given_by(weights: Array, word: Word, to: Word) -> Array:
    """What each token of ``word`` gives to ``to``, of weights (queries, keys)."""
    given: Array = weights[word.start : word.stop, to.start : to.stop].sum(-1)
    return given


def check_place(name: str, shape: tuple[int, int], layer: int | None, head: int | None) -> None:
    """Raise if the model of this ``shape`` (layers, heads) has no such layer or head."""
    for what, number, count in (("layer", layer, shape[0]), ("head", head, shape[1])):
        if number is not None and not 0 <= number < count:
            raise RegardError(
                f"{name} has {number_of(count, what)}, counted from 0: {what} must be from 0 to "
                f"{count - 1}, got {number}"
            )


def place_of(name: str, part: str) -> str:
    """The model and, of one with an encoder and a decoder, which attention of it."""
    return name + {"": "", "cross": ", cross-attention"}.get(part, f", {part}")
