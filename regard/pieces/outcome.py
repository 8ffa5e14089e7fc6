"""Outcome: what a model puts out of a text, so that two of them can be put side by side.

Plain data: inside/whatif finds it; the page shows it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from regard.pieces.whole import Prediction
from regard.trace import Array


@dataclass(frozen=True)
class ModelOutcome:
    """Probable words or labels, a text, or a vector; or the reason why there is nothing."""

    kind: str
    """As in pieces/whole.py, or "translation"."""
    predictions: tuple[Prediction, ...] = ()
    text: str | None = None
    vector: Array | None = None
    """Of length 1."""
    reason: str = ""

    def beside(self, base: ModelOutcome) -> dict[str, Any]:
        """For the page, next to that of the unchanged model."""
        found: dict[str, Any] = {"kind": self.kind}
        if self.predictions:
            found["predictions"] = [asdict(one) for one in self.predictions]
        if self.text is not None:
            found["text"] = self.text
        if self.vector is not None and base.vector is not None:
            found["cosine"] = float(self.vector @ base.vector)
        return found | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Trials:
    """What came out of a model, unchanged and after some changes."""

    before: ModelOutcome
    carried: tuple[tuple[tuple[int, ...], tuple[tuple[int, int], ...], ModelOutcome], ...]
    """Each: the tokens that were masked, the heads (layer, head) that were removed, and what came
    out."""

    def to_dict(self) -> dict[str, Any]:
        """For the page."""
        return {
            "before": self.before.beside(self.before),
            "carried": [
                {"masked": masked, "removed": removed, "after": after.beside(self.before)}
                for masked, removed, after in self.carried
            ],
        }
