"""Parts: who said it. The score of a predicted word as a sum over what wrote it.

Walked backwards from the word's own vector, d · x + b: every norm on the way has its scale held at
the value it had, every activation behind the last layer its gates, and is then linear; what each
part wrote into the stream is its product with the
direction that d has become there. The parts add up to the score exactly, but for rounding.
"""

from __future__ import annotations

from regard.errors import ModelError
from regard.inside.anatomy.anatomy import Anatomy
from regard.inside.anatomy.layer import FEEDFORWARD, Sublayer
from regard.pieces.whole import Prediction, ScorePart, ScoreParts
from regard.trace import Array


def score_parts(anatomy: Anatomy, word: Prediction, name: str) -> ScoreParts:
    """The score of ``word``, split; ``name`` is the model's, for who must be told that it cannot
    be."""
    scorer = anatomy.ending.scorer
    if scorer is None:
        raise ModelError(
            f"the scores of {name} cannot be split into parts: between its last layer and its "
            "scores stands what is no norm, no matrix and no activation, or it scores no words"
        )
    direction, bias = scorer.direction(word.id)
    back = Backwards(direction, bias)
    for step in reversed(anatomy.ending.maps):
        back.through(step)
    parts: list[ScorePart] = []
    for number, layer in reversed(list(enumerate(anatomy.layers))):
        for sublayer in reversed(layer.sublayers):
            parts[:0] = back.add(sublayer, number)
    for step in reversed(anatomy.stem.maps):
        back.through(step)
    stem = [
        ScorePart(kind, float(vector @ back.direction))
        for kind, vector in anatomy.stem.parts.items()
    ]
    parts = [*stem, *parts, ScorePart("biases", back.bias)]
    attention = [s for s in anatomy.sublayers if s.kind != FEEDFORWARD]
    split = all(s.heads for s in attention)
    return ScoreParts(word, tuple(parts), word.score, split, tuple(anatomy.ending.curves))


class Backwards:
    """A direction on its way back through the model, and what the shifts on it add up to."""

    def __init__(self, direction: Array, bias: float) -> None:
        self.direction, self.bias = direction, bias

    def through(self, step: object) -> None:
        """Back through a norm with its scale held, or through a matrix."""
        self.direction = self._back(step, self.direction)

    def _back(self, step: object, direction: Array) -> Array:
        assert hasattr(step, "shift")
        assert hasattr(step, "back")
        self.bias += float(direction @ step.shift)
        found: Array = step.back(direction)
        return found

    def add(self, part: Sublayer, layer: int) -> list[ScorePart]:
        """What a sublayer wrote: by head if they are known."""
        if part.norm_after is not None:
            self.through(part.norm_after)
        if part.heads is None:
            return [ScorePart(part.kind, float(part.adds @ self.direction), layer)]
        direction = self.direction * part.factor
        if part.norm_out is not None:
            direction = self._back(part.norm_out, direction)
        self.bias += float(part.heads.bias @ direction)
        scores = part.heads.along(direction)
        return [
            ScorePart(part.kind, float(row.sum()), layer, head, tuple(map(float, row)))
            for head, row in enumerate(scores)
        ]
