"""Whole: the way of one word through a whole model, from its vector to what it predicts.

Plain data: inside/explain finds it; the terminal and the page show it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from regard.pieces.pieces import Pieces
from regard.trace import Array, Trace

NEXT, BLANK, LABEL, SENTENCE = "next word", "word in the blank", "label", "sentence vector"
"""What a model puts out in the end."""


@dataclass(frozen=True)
class Prediction:
    """One word (or label) that a model may put out."""

    word: str
    id: int
    score: float
    """Its logit."""
    probability: float
    """Its share of the softmax over all, at the temperature that was asked for."""


@dataclass(frozen=True)
class Predicted:
    """What a model puts out, the likeliest first."""

    kind: str
    """Of the kinds above."""
    predictions: list[Prediction]
    of: int
    """How many words or labels were compared."""
    temperature: float = 1.0


@dataclass(frozen=True)
class WholeProof:
    """How far what is shown is from what the model computed."""

    sums: int
    """Sums of vectors that were found in the layers, each checked for every token."""
    apart: float
    """The largest difference of a sum from what came next, as a share of the largest number."""
    what: str
    """What was compared with the model's own pass, such as "scores"."""
    numbers: int
    """How many of these."""
    difference: float
    """The largest difference from the model's own pass."""


@dataclass(frozen=True)
class ScorePart:
    """What one part of a model adds to the score of one word."""

    kind: str
    """"word", "position", "attention", "feed-forward", "biases", …"""
    score: float
    layer: int | None = None
    head: int | None = None
    sources: tuple[float, ...] = ()
    """Of a head: its score split over the tokens that it looked at."""

    @property
    def name(self) -> str:
        """``layer 3 head 1``, ``layer 3 feed-forward``, ``word``."""
        if self.layer is None:
            return self.kind
        place = f"layer {self.layer}"
        if self.head is None:
            return f"{place} {self.kind}"
        cross = " cross" if self.kind == "cross-attention" else ""
        return f"{place}{cross} head {self.head}"


@dataclass(frozen=True)
class ScoreParts:
    """The score of one word as a sum."""

    word: Prediction
    parts: tuple[ScorePart, ...]
    own: float
    """The model's own score."""
    whole: bool
    """Whether attention is split into its heads."""
    curves: tuple[str, ...] = ()
    """Activations between the last layer and the scores, whose gates are held."""

    @property
    def held(self) -> str:
        """What was held at its value, in one line."""
        if not self.curves:
            return (
                "Each norm's scale is held at the value it has here; then every part has its share."
            )
        names = " and ".join(self.curves)
        return (
            f"Each norm's scale and, in the head, the gates g of {names}(x) = x · g are held at "
            "the values they have here; then every part has its share."
        )

    @property
    def total(self) -> float:
        return sum(part.score for part in self.parts)

    @property
    def difference(self) -> float:
        return abs(self.total - self.own)

    def sources(self, kind: str = "attention") -> list[float]:
        """What came from each token, over all heads of all layers."""
        rows = [part.sources for part in self.parts if part.kind == kind and part.sources]
        return [sum(column) for column in zip(*rows, strict=True)]


@dataclass
class WholeWay:
    """One word's way."""

    model: str
    kind: str
    """What the model puts out, of the kinds above."""
    shape: tuple[int, int, int]
    """Layers, heads of each, numbers in a vector."""
    reading: Pieces
    row: int
    """The token that is followed."""
    layout: str
    """Where the norms of a layer stand: "before", "after", or "beside" (parts side by side)."""
    trace: Trace
    """Every vector on the way, of this token alone."""
    proof: WholeProof
    places: str = ""
    """How the model knows where a word stands, if nothing is added to its vector."""
    predictions: list[Prediction] = field(default_factory=list)
    of: int = 0
    """How many words or labels were compared."""
    temperature: float = 1.0
    parts: ScoreParts | None = None
    notes: list[str] = field(default_factory=list)
    source: Pieces | None = None
    """What a translator translates."""
    steps: list[Prediction] = field(default_factory=list)
    """Of a translator: the next word after each token of ``reading``."""
    sentence: Array | None = None
    """The vector of the whole sentence, of a model that puts out no words."""
    other: tuple[str, float] | None = None
    """Another sentence and the cosine between the two."""

    @property
    def token(self) -> str:
        return self.reading.labels[self.row]

    @property
    def predicted(self) -> Predicted:
        return Predicted(self.kind, self.predictions, self.of, self.temperature)

    def to_json(self) -> str:
        """The trace, with what the model puts out and the proof beside it."""
        content: dict[str, Any] = self.trace.to_dict() | {
            "model": self.model,
            "kind": self.kind,
            "position": self.row,
            "layout": self.layout,
            "proof": asdict(self.proof),
        }
        if self.predictions:
            content["temperature"] = self.temperature
            content["predictions"] = [asdict(prediction) for prediction in self.predictions]
        if self.source is not None:
            content["source"] = self.source.labels
            content["next"] = [asdict(prediction) for prediction in self.steps]
        if self.sentence is not None:
            content["sentence_vector"] = self.sentence.tolist()
        if self.other is not None:
            content["similarity"] = {"text": self.other[0], "cosine": self.other[1]}
        if self.parts is not None:
            content["parts"] = parts_content(self.parts)
        text = json.dumps(content, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8", "backslashreplace").decode()


def parts_content(parts: ScoreParts) -> dict[str, Any]:
    """Of the parts, as JSON has them: what a part has not is left out."""
    rows = []
    for part in parts.parts:
        row: dict[str, Any] = {"kind": part.kind, "score": part.score}
        row |= {} if part.layer is None else {"layer": part.layer}
        row |= {} if part.head is None else {"head": part.head}
        row |= {"sources": list(part.sources)} if part.sources else {}
        rows.append(row)
    return {
        "word": parts.word.word,
        "id": parts.word.id,
        "score": parts.own,
        "sum": parts.total,
        "difference": parts.difference,
        "held": parts.held,
        "parts": rows,
    }
