"""Undrawn: a model that is made to be filled from a file draws no first weights.

Drawing them takes longer than reading those that take their place, and it would move on the random
numbers of whoever loads a model in the middle of their own work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

DRAWS = {
    Tensor.normal_,
    Tensor.uniform_,
    nn.init.normal_,
    nn.init.uniform_,
    nn.init.kaiming_uniform_,
}


class Undrawn(TorchFunctionMode):
    """Within it, weights that would be drawn at random are whatever stood in their memory."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func in DRAWS:
            return args[0] if args else kwargs["tensor"]
        if func is torch.randn:
            return torch.empty(*args, **kwargs)
        if func is torch.linalg.qr:  # of an orthogonal matrix that is drawn: only the shapes count
            return args[0], args[0][: args[0].shape[1]]
        return func(*args, **kwargs)
