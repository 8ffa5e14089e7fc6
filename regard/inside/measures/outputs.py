"""Outputs: the matrix W_O that the heads of each attention are multiplied with.

Found by running the model once: it is the matrix that is given exactly what the heads mixed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ModelError
from regard.inside.anatomy.linear import linear, multiplies
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observe import observe
from regard.trace import Array


def output_matrices(model: nn.Module, run: Callable[[], object]) -> dict[str, Array]:
    """W_O (heads, w, width) of each attention by its name, while ``run`` runs ``model`` once."""
    given: list[tuple[nn.Module, Tensor]] = []

    def hear(module: nn.Module, args: tuple[Any, ...]) -> None:
        if args and isinstance(args[0], Tensor):
            given.append((module, args[0].detach().reshape(-1, args[0].shape[-1])))

    with ExitStack() as stack:
        for module in filter(multiplies, model.modules()):
            stack.callback(module.register_forward_pre_hook(hear).remove)
        with observe(model, values=True) as observation:
            run()
    return {layer.name: _matrix(layer, given) for layer in observation.layers}


def _matrix(layer: ObservedLayer, given: list[tuple[nn.Module, Tensor]]) -> Array:
    context = layer.item().context
    if context is not None:
        heads, rows, width = context.shape
        mixed = context.transpose(0, 1).reshape(rows, heads * width)
        for module, x in given:
            if x.shape == mixed.shape and torch.allclose(x, mixed, rtol=1e-3, atol=1e-4):
                found = linear(module)
                assert found is not None
                return found.matrix.reshape(-1, heads, width).transpose(1, 2, 0)
    raise ModelError(
        f"{layer.name}: no matrix is given what its heads mixed, so the size of what a head "
        "brings cannot be told; look without --measure norm"
    )
