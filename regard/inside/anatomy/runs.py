"""Runs: what each module of a model was given and what it made, while the model runs once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.inside.observe.families.eager import NAMED

INPUT = "hidden_states"
"""What most modules call the vectors that they are given."""


@dataclass(frozen=True, eq=False)
class ModuleRun:
    """One call of one module, copied: what is changed in place later is not changed here."""

    name: str
    """In the model."""
    module: nn.Module
    given: Tensor | None
    """(tokens, width)"""
    made: Tensor | None


LayerDone = Callable[[ModuleRun, list[ModuleRun]], None]
"""Is called with a layer's run and, in the order in which they ended, those of all inside it."""


class RunRecorder:
    """Hears every module; hands over each layer as soon as it has run.

    Of what runs outside the layers only the row of the followed word is kept: scores of a whole
    vocabulary, for every token, would be more than all else together.
    """

    def __init__(
        self, model: nn.Module, layers: dict[int, str], tokens: int, row: int, done: LayerDone
    ) -> None:
        self.names = {id(module): name for name, module in model.named_modules()}
        self.layers, self.tokens, self.row, self.done = layers, tokens, row, done
        self.stack: list[Tensor | None] = []
        self.inside: list[ModuleRun] | None = None
        self.before: list[ModuleRun] = []
        """What ended before the first layer began."""
        self.after: list[ModuleRun] = []
        """What ended after the last layer had."""
        self.ran = 0
        """How many layers ran."""

    def enter(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if id(module) in self.layers:
            self.inside = []
        given = kwargs.get(INPUT)
        self.stack.append(self._kept([*args, given, *kwargs.values()]))

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        made = self._kept(output if isinstance(output, (tuple, list)) else [output])
        run = ModuleRun(self.names[id(module)], module, self.stack.pop(), made)
        if id(module) in self.layers and self.inside is not None:
            inside, self.inside = self.inside, None
            self.done(run, inside)
            self.ran += 1
            self.after = []
        elif self.inside is not None:
            self.inside.append(run)
        elif self.ran:
            self.after.append(run)
        else:
            self.before.append(run)

    def _kept(self, given: Iterable[Any]) -> Tensor | None:
        for x in given:
            if isinstance(x, Tensor) and x.is_floating_point() and x.dim() > 1 and x.numel():
                rows = x.detach().reshape(-1, x.shape[-1])
                if self.inside is None and len(rows) == self.tokens:
                    rows = rows[self.row : self.row + 1]
                return rows.clone()
        return None


@contextmanager
def recorded(
    model: nn.Module, layers: dict[int, str], tokens: int, row: int, done: LayerDone
) -> Iterator[RunRecorder]:
    """Record every module of ``model`` inside the block; the hooks are removed in the end."""
    recorder = RunRecorder(model, layers, tokens, row, done)
    with ExitStack() as stack:
        for module in model.modules():
            for hook in (
                module.register_forward_pre_hook(recorder.enter, with_kwargs=True),
                module.register_forward_hook(recorder.leave),
            ):
                stack.callback(hook.remove)
        yield recorder


def layers_of(model: nn.Module, part: str = "") -> dict[int, str]:
    """The layers by id, with their names: the items of the innermost lists all of whose items have
    attention; ``part``: only those whose name begins so."""
    lists = {}
    for name, module in model.named_modules():
        if isinstance(module, nn.ModuleList) and len(module) and all(map(_attends, module)):
            lists[name] = module
    inner = {
        name: found
        for name, found in lists.items()
        if not any(other.startswith(f"{name}.") for other in lists)
    }
    return {
        id(layer): f"{name}.{number}"
        for name, found in inner.items()
        if part in name.split(".") or not part
        for number, layer in enumerate(found)
    }


def _attends(module: nn.Module) -> bool:
    return any(NAMED.search(type(inner).__name__) for inner in module.modules())


def same(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether both are the same numbers."""
    return (
        one is not None
        and other is not None
        and one.shape == other.shape
        and torch.equal(one, other)
    )
