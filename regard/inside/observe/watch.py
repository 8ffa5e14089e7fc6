"""Watcher: hands what attention modules are given to one observation, while it is open.

Each thread and each task has its own open watchers: another thread that runs the same model at
the same time is not seen, and is not slowed by more than a look at a context variable.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

from torch import nn

from regard.inside.observe.call import Call, follows, kept, step
from regard.inside.observe.layer import ObservedLayer, part_of
from regard.inside.observe.observation import Observation

_open: ContextVar[tuple[Watcher, ...]] = ContextVar("regard_watchers", default=())

CROSS = re.compile(
    r"cross|encoder_attn|encdecattention|encoder_attention|token_to_image|image_to_token",
    re.IGNORECASE,
)
"""Names of modules that attend to another text."""


class Watcher:
    """Numbers the layers of one model as they are called, and tells steps of one text apart."""

    def __init__(
        self,
        model: nn.Module,
        observation: Observation,
        each: Callable[[ObservedLayer], None] | None = None,
    ) -> None:
        self.observation = observation
        self.each = each
        self.names = {id(module): name for name, module in model.named_modules()}
        self.depth = self.runs = 0
        self.calls: Counter[str] = Counter()
        self.last: dict[tuple[str, int], int] = {}
        self.layers: dict[tuple[str, int], ObservedLayer | None] = {}
        self.numbers: Counter[tuple[str, str]] = Counter()
        self.count = 0
        self.stored = False
        """Whether weights are kept instead of queries and keys."""

    @property
    def here(self) -> bool:
        """Whether this thread or task is the one that observes."""
        return self in _open.get()

    def enter(self) -> None:
        """Some module of the model is called; the outermost one begins a run."""
        if self.depth == 0:
            self.runs += 1
            self.calls.clear()
        self.depth += 1

    def leave(self) -> None:
        self.depth -= 1

    def saw(self, module: nn.Module, call: Call, cross: bool | None = None) -> None:
        """``module`` was called. A module called twice in one run is two layers (ALBERT)."""
        name, place = self._place(module)
        self.count += 1
        if place not in self.layers:
            self.layers[place] = self._new(
                name, _is_cross(module, name) if cross is None else cross
            )
        layer = self.layers[place]
        if layer is None:
            return
        self.stored |= call.weights is not None
        crosses = layer.kind == "cross"
        observation = self.observation
        call = kept(call, observation.chosen_heads, observation.dtype, observation.values)
        if layer.calls and follows(call, layer.calls, crosses):
            layer.go_on(step(call, layer.calls, crosses))
        else:
            layer.begin(call)
        if self.each is not None:
            self.each(layer)
            layer.drop()

    def missed(self, module: nn.Module, reason: str, counted: bool) -> None:
        """The attention of ``module`` could not be told. ``counted``: it is a layer all the same,
        so that those after it keep the numbers that they have in the model."""
        name = self.names[id(module)]
        self.observation.unseen.setdefault(name, reason)
        if counted:
            _, place = self._place(module)
            if place not in self.layers:
                self.numbers["cross" if _is_cross(module, name) else "self", part_of(name)] += 1
            before = self.layers.get(place)
            if before is not None:  # seen in a text that is no longer the last
                self.observation.layers.remove(before)
            self.layers[place] = None

    def _place(self, module: nn.Module) -> tuple[str, tuple[str, int]]:
        """The module's name, and it with the number of its call in this run."""
        name = self.names[id(module)]
        self.calls[name] += 1
        return name, (name, self.calls[name] - 1)

    def _new(self, name: str, cross: bool) -> ObservedLayer | None:
        kind, part = "cross" if cross else "self", part_of(name)
        number = self.numbers[kind, part]
        self.numbers[kind, part] += 1
        chosen = self.observation.chosen_layers
        if chosen is not None and number not in chosen:
            return None
        layer = ObservedLayer(name, kind, part, number, self.observation.chosen_heads)
        self.observation.layers.append(layer)
        return layer


def watchers(module: nn.Module) -> list[Watcher]:
    """The open watchers of this thread or task whose model has ``module``."""
    return [watcher for watcher in _open.get() if id(module) in watcher.names]


@contextmanager
def watching(
    model: nn.Module, observation: Observation, each: Callable[[ObservedLayer], None] | None = None
) -> Iterator[Watcher]:
    """Open a watcher of ``model``; hooks that count its runs are removed in the end."""
    watcher = Watcher(model, observation, each)

    def before(module: nn.Module, args: Any) -> None:
        if watcher.here:
            watcher.enter()

    def after(module: nn.Module, args: Any, output: Any) -> None:
        if watcher.here:
            watcher.leave()

    with ExitStack() as stack:
        for module in model.modules():
            if next(module.children(), None) is not None:
                stack.callback(module.register_forward_pre_hook(before, prepend=True).remove)
                stack.callback(module.register_forward_hook(after, always_call=True).remove)
        token = _open.set((*_open.get(), watcher))
        stack.callback(_open.reset, token)
        yield watcher


def _is_cross(module: nn.Module, name: str) -> bool:
    return bool(getattr(module, "is_cross_attention", False) or CROSS.search(name))
