"""Config: what a model is made of, checked when it is made."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, ClassVar, Self

from regard.errors import ConfigError, nearest

SIZES = ("tiny", "small", "base")
"""Named shapes that every design has."""


@dataclass(frozen=True)
class ModelConfig(ABC):
    """What configs have in common: all problems are told at once; plain data and back."""

    what: ClassVar[str]
    """What is described, for errors."""
    always: ClassVar[tuple[str, ...]] = ("vocabulary", "dropout", "tied")
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
class TokenConfig(ModelConfig):
    """The shape of a model that reads tokens."""

    model: str
    """The design."""
    vocabulary: int
    """How many tokens there are, the special ones included."""


def check_size(model: str, designs: Sequence[str], size: str) -> None:
    """Raise unless there is a design of this name, and a size."""
    for what, name, known in (("model", model, designs), ("size", size, SIZES)):
        if name not in known:
            raise ConfigError(
                f"{what} must be one of {', '.join(known)}, got {name!r}{nearest(name, known)}"
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
