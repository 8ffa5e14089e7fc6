"""Blocks: the layers of a model as it stacks them, so that those below a change need not run again.

A block is a member of a list of modules, in no other such member, and called once in a run. What
it gave in the unchanged run is kept; where only later blocks change it gives that again, once for
each row, and computes nothing. Where one position of the last vectors is measured, what follows
the last attention is computed for that position alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn


class Blocks:
    """The blocks of one network, in the order in which they ran."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.names: list[str] = []
        self.modules: list[nn.Module] = []
        self.outputs: list[Any] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Inside the block one unchanged run of one row is kept."""
        ran: list[tuple[str, nn.Module, Any]] = []

        def keep(name: str, module: nn.Module, args: Any, output: Any) -> None:
            ran.append((name, module, output))

        with ExitStack() as stack:
            for name, module in _members(self.network):
                stack.callback(module.register_forward_hook(partial(keep, name)).remove)
            yield
        times = Counter(name for name, _, _ in ran)
        outer = [n for n in times if not any(n.startswith(f"{other}.") for other in times)]
        if any(times[name] > 1 for name in outer):  # one set of weights for all layers (ALBERT)
            return
        chosen = [one for one in ran if one[0] in outer]
        self.names = [name for name, _, _ in chosen]
        self.modules = [module for _, module, _ in chosen]
        self.outputs = [output for _, _, output in chosen]

    def of(self, name: str) -> int:
        """How many blocks run before the one that the module ``name`` is in; 0 if it is in none."""
        places = (i for i, block in enumerate(self.names) if name.startswith(f"{block}."))
        return next(places, 0)

    @contextmanager
    def from_block(self, first: int, rows: int) -> Iterator[None]:
        """Inside the block those before ``first`` give what they gave, in ``rows`` rows."""
        with ExitStack() as stack:
            for module, output in list(zip(self.modules, self.outputs, strict=True))[:first]:
                stack.enter_context(standing_in(module, _Again(output, rows)))
            yield

    def after_attention(
        self, names: list[str], run: Callable[[], object], position: int
    ) -> list[nn.Module]:
        """The children of the last block that run behind its attention (one of the modules
        ``names``) and make of a position what is there at this position, by running it once."""
        block, calls = self.modules[-1], list[tuple[nn.Module, Any, Any, Any]]()

        def keep(module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
            calls.append((module, args, kwargs, output))

        with ExitStack() as stack:
            stack.enter_context(self.from_block(len(self.modules) - 1, 1))
            for child in block.children():
                stack.callback(child.register_forward_hook(keep, with_kwargs=True).remove)
            run()
        attending = {id(self.network.get_submodule(name)) for name in names}
        attended = [
            i for i, call in enumerate(calls) if attending & {id(m) for m in call[0].modules()}
        ]
        behind = calls[attended[-1] + 1 :] if attended else []
        times = Counter(id(call[0]) for call in calls)
        return [c[0] for c in behind if times[id(c[0])] == 1 and _of_positions(*c, position)]

    @contextmanager
    def at_position(self, modules: list[nn.Module], position: int) -> Iterator[None]:
        """Inside the block ``modules`` compute this position, and give zeros at all others."""
        with ExitStack() as stack:
            for module in modules:
                stack.enter_context(standing_in(module, _AtPosition(module, position)))
            yield


@contextmanager
def standing_in(module: nn.Module, forward: Callable[..., Any]) -> Iterator[None]:
    """Inside the block ``module`` computes this instead."""
    vars(module)["forward"] = forward
    try:
        yield
    finally:
        vars(module).pop("forward", None)


def _of_positions(
    module: nn.Module, args: tuple[Any, ...], kwargs: Any, output: Any, position: int
) -> bool:
    """Whether a module gives the same of this position alone, and takes and gives nothing else."""
    tensors = [*args, output]
    if kwargs or not all(isinstance(x, Tensor) and x.dim() == 3 for x in tensors):
        return False
    if len({x.shape[1] for x in tensors}) > 1:
        return False
    made = module(*(_one(x, position) for x in args))
    return bool(torch.allclose(made, _one(output, position), rtol=1e-4, atol=1e-5))


def _one(x: Tensor, position: int) -> Tensor:
    """(rows, 1, width)"""
    return x[:, position].unsqueeze(1)


class _AtPosition:
    """A forward of one position."""

    def __init__(self, module: nn.Module, position: int) -> None:
        self.forward, self.position = module.forward, position

    def __call__(self, *args: Tensor) -> Tensor:
        made: Tensor = self.forward(*(_one(x, self.position) for x in args))
        everywhere = made.new_zeros(len(made), args[0].shape[1], made.shape[2])
        everywhere[:, self.position] = made[:, 0]
        return everywhere


class _Again:
    """A forward that gives the same again, whatever it is given."""

    def __init__(self, output: Any, rows: int) -> None:
        self.output, self.rows = output, rows

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return in_rows(self.output, self.rows)


def in_rows(output: Any, rows: int) -> Any:
    """The output of one row as that of several: rows stand one behind the other."""
    if isinstance(output, Tensor):
        if output.dim() and output.shape[0] == 1:
            return output.expand(rows, *output.shape[1:])
        return output.repeat(rows, *(1,) * (output.dim() - 1)) if output.dim() else output
    if isinstance(output, tuple):
        several = [in_rows(part, rows) for part in output]
        return type(output)(*several) if hasattr(output, "_fields") else tuple(several)
    return output


def _members(network: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    for name, module in network.named_modules():
        if isinstance(module, nn.ModuleList):
            for place, member in module.named_children():
                yield f"{name}.{place}", member


def rows_within(network: nn.Module, positions: int, memory: int) -> int:
    """How many rows of a text run at a time within ``memory`` bytes, by the widest layers.

    Of a row the widest result, what it is made from and what is made from it are held at once.
    """
    wide = [max(p.shape) for p in network.parameters() if p.dim() == 2]
    usual = sorted(wide)[len(wide) // 2] if wide else 1
    size = next((p.element_size() for p in network.parameters()), 4)
    row = size * (4 * positions * usual + 2 * max(wide, default=1))
    return max(1, memory // row)
