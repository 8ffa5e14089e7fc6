"""Places: the attention layers of a model, numbered in the order in which they are called.

Who watches a model and who changes it count in the same way, so that one number is one layer. Each
thread and each task has its own open places: another thread that runs the same model at the same
time is not seen, and is not slowed by more than a look at a context variable.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from torch import nn

_open: ContextVar[tuple[Places, ...]] = ContextVar("regard_places", default=())

CROSS = re.compile(
    r"cross|encoder_attn|encdecattention|encoder_attention|token_to_image|image_to_token",
    re.IGNORECASE,
)
"""Names of modules that attend to another text."""


@dataclass(frozen=True)
class LayerPlace:
    """Where an attention layer is."""

    name: str
    """The module's name in the model."""
    kind: str
    """"self" or "cross"."""
    part: str
    """"encoder" or "decoder" if the module's name says so, else empty."""
    number: int
    """Counted from 0 among the layers of this kind and part."""
    order: int
    """Counted from 0 among the layers of this kind in all parts."""

    def answers(self, number: int | None, kind: str) -> bool:
        """Whether it is the layer that ``number`` (None: any) and ``kind`` mean."""
        if kind in ("encoder", "decoder"):
            return self.kind == "self" and self.part == kind and number in (None, self.number)
        return self.kind == kind and number in (None, self.order)


class Places:
    """Numbers the layers of one model as they are called, the same in every run."""

    def __init__(self, model: nn.Module) -> None:
        self.names = {id(module): name for name, module in model.named_modules()}
        self.depth = self.runs = 0
        self.calls: Counter[str] = Counter()
        self.numbers: Counter[tuple[str, str]] = Counter()

    @property
    def here(self) -> bool:
        """Whether these were opened by this thread or task."""
        return self in _open.get()

    def enter(self) -> None:
        """Some module of the model is called; the outermost one begins a run."""
        if self.depth == 0:
            self.runs += 1
            self.calls.clear()
        self.depth += 1

    def leave(self) -> None:
        self.depth -= 1

    def called(self, module: nn.Module) -> tuple[str, int]:
        """The module's name, and the number of this call of it in this run.

        A module called twice in one run is two layers (ALBERT).
        """
        name = self.names[id(module)]
        self.calls[name] += 1
        return name, self.calls[name] - 1

    def numbered(self, name: str, cross: bool) -> LayerPlace:
        """The place of a layer that is met for the first time."""
        kind, part = "cross" if cross else "self", part_of(name)
        number = self.numbers[kind, part]
        order = sum(count for (other, _), count in self.numbers.items() if other == kind)
        self.numbers[kind, part] += 1
        return LayerPlace(name, kind, part, number, order)


def opened() -> tuple[Places, ...]:
    """The open places of this thread or task."""
    return _open.get()


@contextmanager
def counting(model: nn.Module, places: Places) -> Iterator[None]:
    """Open ``places``; hooks that count the model's runs are removed in the end."""

    def before(module: nn.Module, args: Any) -> None:
        if places.here:
            places.enter()

    def after(module: nn.Module, args: Any, output: Any) -> None:
        if places.here:
            places.leave()

    with ExitStack() as stack:
        for module in model.modules():
            if next(module.children(), None) is not None:
                stack.callback(module.register_forward_pre_hook(before, prepend=True).remove)
                stack.callback(module.register_forward_hook(after, always_call=True).remove)
        token = _open.set((*_open.get(), places))
        stack.callback(_open.reset, token)
        yield


def is_of(wanted: str, kind: str, part: str) -> bool:
    """Whether attention of this ``kind`` ("self", "cross") and ``part`` ("encoder", "decoder") is
    what is wanted: that of the encoder, of the decoder, cross, or any self-attention (empty)."""
    if wanted in ("encoder", "decoder"):
        return kind == "self" and part == wanted
    return kind == (wanted or "self")


def is_cross(module: nn.Module, name: str) -> bool:
    """Whether a module attends to another text, by what it says or by its name."""
    return bool(getattr(module, "is_cross_attention", False) or CROSS.search(name))


def part_of(name: str) -> str:
    """Encoder or decoder, by the first of these words in a module's name."""
    places = {word: name.find(word) for word in ("encoder", "decoder")}
    found = {word: place if place >= 0 else math.inf for word, place in places.items()}
    word = min(found, key=lambda w: found[w])
    return word if found[word] < math.inf else ""
