"""Products: the matrices of a network multiplied by the faster of PyTorch's libraries, and the
activation behind a matrix in the same pass.

Whoever uses them compares a run with the unchanged one: somebody may look at what stands before an
activation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention.private import one_dnn_ahead, one_dnn_product
from regard.inside.ablate.blocks import standing_in
from regard.inside.ablate.curves import curve_name
from regard.inside.anatomy.linear import multiplies

FUSED = ("gelu", "gelu (by tanh)", "relu")
"""Activations that go with a product."""
FEW = 8
"""Positions below which a product is only as fast as its matrix is read: it stays as it is. GPT-2's
matrix of words takes twelve of them in 13 ms by oneDNN, in 27 by MKL."""


@dataclass(eq=False)
class ProductRun:
    """What a module was given in the unchanged run, and what it made."""

    given: Tensor
    made: Tensor


class FastProducts:
    """The products of a network that oneDNN computes: none, where it is the slower one."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.runs: dict[nn.Module, list[ProductRun]] = {}
        self.known: list[tuple[nn.Module, Callable[[Tensor], Tensor]]] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Inside the block one unchanged run is heard; then the products are found."""

        def keep(module: nn.Module, args: tuple[object, ...], output: object) -> None:
            if len(args) == 1 and isinstance(args[0], Tensor) and isinstance(output, Tensor):
                self.runs.setdefault(module, []).append(ProductRun(args[0], output))

        with ExitStack() as stack:
            for module in self.network.modules():
                if plain(module) or curve_name(module) in FUSED:
                    stack.callback(module.register_forward_hook(keep).remove)
            yield
        self._find()
        self.runs = {}

    def _find(self) -> None:
        small = torch.ones(1, 1)
        if not one_dnn_ahead() or one_dnn_product(small, small, None) is None:
            return
        once = {module: runs[0] for module, runs in self.runs.items() if len(runs) == 1}
        behind = {id(run.given): module for module, run in once.items() if not multiplies(module)}
        for module, run in once.items():
            if not multiplies(module):
                continue
            # what the module made and what the curve was given is one tensor
            curve = behind.get(id(run.made))
            if curve is not None and few(run.given):
                continue
            name = "none" if curve is None else curve_name(curve)
            self.known.append((module, Product(module, name or "none")))
            if curve is not None:
                self.known.append((curve, nn.Identity()))

    @contextmanager
    def fused(self) -> Iterator[None]:
        """Inside the block they are computed so."""
        with ExitStack() as stack:
            for module, forward in self.known:
                if "forward" not in vars(module):  # who stands in for it already knows better
                    stack.enter_context(standing_in(module, forward))
            yield


class Product:
    """A forward by oneDNN, of the weights where they are: nothing is copied."""

    def __init__(self, module: nn.Module, curve: str) -> None:
        self.module, weight, self.bias = module, module.weight, module.bias
        assert isinstance(weight, Tensor)
        self.matrix = weight if isinstance(module, nn.Linear) else weight.t()
        self.curve = curve

    def __call__(self, x: Tensor) -> Tensor:
        if self.curve == "none" and few(x):  # one text has few positions, and several have more
            as_it_is: Tensor = type(self.module).forward(self.module, x)
            return as_it_is
        bias = self.bias if isinstance(self.bias, Tensor) else None
        made = one_dnn_product(x, self.matrix, bias, self.curve)
        assert made is not None
        return made


def few(x: Tensor) -> bool:
    """Whether vectors (…, width) are so few."""
    return x.numel() < FEW * x.shape[-1]


def plain(module: nn.Module) -> bool:
    """Whether a module is a product in float32 on the processor, and computes as its class does."""
    if not multiplies(module) or "forward" in vars(module):
        return False
    weight = module.weight
    if not isinstance(weight, Tensor) or weight.dtype != torch.float32 or not weight.is_cpu:
        return False
    return type(module) is nn.Linear or type(module).__name__ == "Conv1D"
