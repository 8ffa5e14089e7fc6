"""TranslatorConfig: what a translator is made of, checked when it is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from regard.errors import ConfigError, nearest

MODELS = (
    "word-by-word",
    "encoder-decoder",
    "bahdanau",
    "lstmn-shallow",
    "lstmn-deep",
    "transformer",
)
"""The designs, in the order of their history."""

RECURRENT = ("hidden", "readout")
TRANSFORMER = ("layers", "heads", "feedforward")


@dataclass(frozen=True)
class TranslatorConfig:
    """The shape of a translator. A number that a design does not have stays 0."""

    model: str
    """One of :data:`MODELS`."""
    vocabulary: int
    """How many tokens there are, the special ones included."""
    width: int
    """Of a token's vector; the Transformer's d."""
    hidden: int = 0
    """Recurrent designs: the width of the state, and of the alignment network."""
    readout: int = 0
    """Recurrent designs: how many maxout units feed the vocabulary."""
    layers: int = 0
    """Transformer: layers of the encoder, and as many of the decoder."""
    heads: int = 0
    """Transformer: attention heads of a layer."""
    feedforward: int = 0
    """Transformer: the width inside the feed-forward network."""
    norm: str = ""
    """Transformer: "post" (after each residual sum, as in the paper) or "pre"."""
    dropout: float = 0.0
    """The share of numbers dropped while training."""
    tied: bool = False
    """Source, target and output words share one matrix (recurrent: readout = width)."""

    def __post_init__(self) -> None:
        problems = list(self._problems())
        if problems:
            raise ConfigError(f"a translator's settings do not fit: {'; '.join(problems)}")

    def _problems(self) -> Iterator[str]:
        if self.model not in MODELS:
            hint = nearest(str(self.model), MODELS)
            yield f"model must be one of {', '.join(MODELS)}, got {self.model!r}{hint}"
        for name, least in (("vocabulary", 5), ("width", 1)):
            yield from _whole(name, getattr(self, name), least)
        share = self.dropout
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1:
            yield f"dropout must be at least 0 and less than 1, got {share!r}"
        if not isinstance(self.tied, bool):
            yield f"tied must be true or false, got {self.tied!r}"
        if self.model in MODELS:
            yield from self._own()

    def _own(self) -> Iterator[str]:
        """What is wrong with the numbers that only some designs have."""
        is_transformer = self.model == "transformer"
        own, foreign = (TRANSFORMER, RECURRENT) if is_transformer else (RECURRENT, TRANSFORMER)
        wrong = [problem for name in own for problem in _whole(name, getattr(self, name), 1)]
        yield from wrong
        for name in foreign:
            if getattr(self, name) != 0:
                yield f"{self.model} has no {name}: leave it out, got {getattr(self, name)!r}"
        if not is_transformer and self.norm:
            yield f"{self.model} has no norm: leave it out, got {self.norm!r}"
        if is_transformer and self.norm not in ("pre", "post"):
            yield f'norm must be "pre" or "post", got {self.norm!r}'
        if wrong or not isinstance(self.width, int):
            return
        if is_transformer and self.width % self.heads:
            yield f"heads must divide width, got {self.heads} and {self.width}"
        if not is_transformer and self.tied is True and self.readout != self.width:
            yield (
                "tied words need readout = width (the output matrix is the words' own), "
                f"got {self.readout} and {self.width}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the numbers that this design does not have."""
        return {name: value for name, value in asdict(self).items() if value not in (0, "")} | {
            "dropout": self.dropout,
            "tied": self.tied,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> TranslatorConfig:
        """The config that :meth:`to_dict` gave; unknown and missing names are errors."""
        known = [field.name for field in fields(cls)]
        strange = [name for name in content if name not in known]
        missing = [name for name in ("model", "vocabulary", "width") if name not in content]
        problems = [f"there is no {name!r}{nearest(name, known)}" for name in strange]
        problems += [f"{name} is missing" for name in missing]
        if problems:
            raise ConfigError(f"a translator's settings do not fit: {'; '.join(problems)}")
        return cls(**content)


def _whole(name: str, value: object, least: int) -> Iterator[str]:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        yield f"{name} must be a whole number of at least {least}, got {value!r}"
