"""Shared: the attention of the first changed layer, computed once for all variants of it.

    y without head h = y − c_h W_O^h

What stands before the heads' outputs c is the same whichever of them is removed: queries, keys,
values, weights and sums. So variants that remove heads of one attention need none of it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from regard.inside.ablate.blocks import in_rows, standing_in
from regard.inside.ablate.variant import Variant
from regard.inside.anatomy.linear import multiplies
from regard.inside.observe.families.eager import NAMED
from regard.inside.observe.places import LayerPlace

Heads = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SharedAttention:
    """What an attention put out in the unchanged run, and what its heads had mixed."""

    module: nn.Module
    output: Any
    """As it gave it, of one row."""
    mixed: Tensor
    """(positions, heads · w)"""
    matrix: Tensor | None
    """W_O (heads · w, width); None: what was mixed is put out as it is."""
    heads: int
    product: nn.Module | None = None
    """The module that multiplies by W_O."""

    def without(self, several: Sequence[Heads]) -> Tensor:
        """(rows, positions, width): in each row without these heads."""
        made: Tensor = _first(self.output).repeat(len(several), 1, 1)
        wide = self.mixed.shape[-1] // self.heads
        for row, gone in zip(made, several, strict=True):
            for head in gone:
                part = slice(head * wide, (head + 1) * wide)
                if self.matrix is None:
                    row[:, part] = 0
                else:
                    row.addmm_(self.mixed[:, part], self.matrix[part], alpha=-1)
        return made

    @contextmanager
    def removing(self, several: Sequence[Heads]) -> Iterator[None]:
        """Inside the block the attention gives this, whatever it is given."""
        output: Any = self.without(several)
        if isinstance(self.output, tuple):
            parts = (output, *in_rows(tuple(self.output[1:]), len(several)))
            named = hasattr(self.output, "_fields")
            output = type(self.output)(*parts) if named else parts
        with standing_in(self.module, lambda *_, **__: output):
            yield


@dataclass
class SharedAttentions:
    """The attention of all layers, as it was in the unchanged run, by name."""

    network: nn.Module
    outputs: dict[str, list[Any]] = field(default_factory=dict)
    products: dict[str, list[tuple[nn.Module, Tensor, Tensor]]] = field(default_factory=dict)
    known: dict[str, SharedAttention] = field(default_factory=dict)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Inside the block one unchanged run of one row is kept."""
        with ExitStack() as stack:
            for name, module in self.network.named_modules():
                if not NAMED.search(type(module).__name__):
                    continue
                hook = module.register_forward_hook(partial(self._keep, name))
                stack.callback(hook.remove)
                for inner in filter(multiplies, module.modules()):
                    hook = inner.register_forward_hook(partial(self._multiply, name))
                    stack.callback(hook.remove)
            yield

    def _keep(self, name: str, module: nn.Module, args: Any, output: Any) -> None:
        self.outputs.setdefault(name, []).append(output)

    def _multiply(self, name: str, module: nn.Module, args: Any, output: Any) -> None:
        if args and isinstance(args[0], Tensor) and isinstance(output, Tensor):
            self.products.setdefault(name, []).append((module, args[0], output))

    def find(self, places: Mapping[LayerPlace, int]) -> None:
        """Of each attention in ``places`` (with its heads), how it can be shared, if it can be."""
        for place, heads in places.items():
            found = self._shared(place.name, heads)
            if found is not None:
                self.known[place.name] = found
        self.outputs, self.products = {}, {}

    def _shared(self, name: str, heads: int) -> SharedAttention | None:
        several = self.outputs.get(name, [])
        if len(several) != 1 or not _is_row(_first(several[0])):
            return None
        output, module = several[0], self.network.get_submodule(name)
        put_out = _first(output)
        for inner, given, made in self.products.get(name, []):
            if made is put_out or (made.shape == put_out.shape and torch.equal(made, put_out)):
                weight = inner.weight
                matrix = weight.T if isinstance(inner, nn.Linear) else weight
                assert isinstance(matrix, Tensor)
                return SharedAttention(module, output, given[0], matrix, heads, inner)
        return SharedAttention(module, output, put_out[0], None, heads)


def removed_alike(
    variants: Sequence[Variant], places: Mapping[LayerPlace, int]
) -> tuple[str, list[Heads]] | None:
    """The one attention of which all ``variants`` set heads to zero, and which; None if they do
    anything else."""
    at = {(head.part, head.layer) for variant in variants for head in variant.heads}
    if len(at) != 1 or any(v.masks or v.parts or v.how != {"by": "zero"} for v in variants):
        return None
    ((part, layer),) = at
    found = [place for place in places if place.answers(layer, part)]
    if len(found) != 1:
        return None
    return found[0].name, [tuple(head.head for head in v.heads) for v in variants]


def _first(output: Any) -> Any:
    return output[0] if isinstance(output, tuple) else output


def _is_row(output: Any) -> bool:
    """(1, positions, width)"""
    return isinstance(output, Tensor) and output.dim() == 3 and len(output) == 1
