"""Config: what a model is made of, checked when it is made. TranslatorConfig: of a translator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, ClassVar, Self

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
class ModelConfig(ABC):
    """What configs have in common: all problems are told at once; plain data and back."""

    what: ClassVar[str]
    """What is described, for errors."""
    always: ClassVar[tuple[str, ...]] = ("dropout", "tied")
    """Settings that every design has, and which may be 0."""

    def __post_init__(self) -> None:
        self._complain(list(self.problems()))

    @abstractmethod
    def problems(self) -> Iterator[str]:
        """Everything that is wrong with the settings."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the numbers that this design does not have."""
        content = asdict(self)
        return {k: v for k, v in content.items() if v not in (0, "") or k in self.always}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """The config that :meth:`to_dict` gave; unknown and missing names are errors."""
        known = [field.name for field in fields(cls)]
        needed = [field.name for field in fields(cls) if field.default is MISSING]
        strange = [name for name in content if name not in known]
        problems = [f"there is no {name!r}{nearest(name, known)}" for name in strange]
        problems += [f"{name} is missing" for name in needed if name not in content]
        cls._complain(problems)
        return cls(**content)

    @classmethod
    def _complain(cls, problems: list[str]) -> None:
        if problems:
            raise ConfigError(f"{cls.what}'s settings do not fit: {'; '.join(problems)}")


@dataclass(frozen=True)
class TranslatorConfig(ModelConfig):
    """The shape of a translator. A number that a design does not have stays 0."""

    what = "a translator"

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

    def problems(self) -> Iterator[str]:
        if self.model not in MODELS:
            hint = nearest(str(self.model), MODELS)
            yield f"model must be one of {', '.join(MODELS)}, got {self.model!r}{hint}"
        yield from whole("vocabulary", self.vocabulary, 5)
        yield from whole("width", self.width, 1)
        yield from share("dropout", self.dropout)
        yield from truth("tied", self.tied)
        if self.model in MODELS:
            yield from self._own()

    def _own(self) -> Iterator[str]:
        """What is wrong with the numbers that only some designs have."""
        is_transformer = self.model == "transformer"
        own, foreign = (TRANSFORMER, RECURRENT) if is_transformer else (RECURRENT, TRANSFORMER)
        wrong = [problem for name in own for problem in whole(name, getattr(self, name), 1)]
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


def whole(name: str, value: object, least: int) -> Iterator[str]:
    """A problem unless ``value`` is a whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        yield f"{name} must be a whole number of at least {least}, got {value!r}"


def share(name: str, value: object) -> Iterator[str]:
    """A problem unless ``value`` is a number from 0 to under 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        yield f"{name} must be at least 0 and less than 1, got {value!r}"


def truth(name: str, value: object) -> Iterator[str]:
    """A problem unless ``value`` is true or false."""
    if not isinstance(value, bool):
        yield f"{name} must be true or false, got {value!r}"
