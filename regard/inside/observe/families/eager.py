"""Hugging Face families outside the registry: their attention modules return the weights.

A hook asks them for the weights, which they compute anyway; the layers that call them pass the
weights on only if the model itself was asked for them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from regard.attention.rule import Rule
from regard.inside.observe.call import Call
from regard.inside.observe.watch import watchers

WISH = "output_attentions"


@contextmanager
def watch(model: nn.Module) -> Iterator[None]:
    with ExitStack() as stack:
        for module in _attentions(model):
            before = module.register_forward_pre_hook(_before, with_kwargs=True)
            after = module.register_forward_hook(_after, with_kwargs=True)
            stack.callback(before.remove)
            stack.callback(after.remove)
        yield


def call_of(weights: Tensor) -> Call:
    """A call of which the weights (batch, heads, queries, keys) are all that is known."""
    batch, heads, queries, keys = weights.shape
    nothing = weights.detach().new_zeros(1).expand(batch, heads, max(queries, keys), 1)
    return Call(nothing[:, :, :queries], nothing[:, :, :keys], Rule(1.0), weights.detach())


def _attentions(model: nn.Module) -> list[nn.Module]:
    """The innermost modules that are called attention and can be asked for their weights."""
    named = [m for m in model.modules() if "Attention" in type(m).__name__ and _asked(m)]
    return [m for m in named if not any(other in named for other in list(m.modules())[1:])]


def _asked(module: nn.Module) -> bool:
    return WISH in inspect.signature(module.forward).parameters


def _before(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not watchers(module):
        return None
    given = inspect.signature(module.forward).bind(*args, **kwargs)
    given.arguments[WISH] = True
    return given.args, given.kwargs


def _after(module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> Any:
    found = watchers(module)
    if not found or not isinstance(output, tuple):
        return None
    for part in output[1:]:
        if isinstance(part, Tensor) and part.dim() == 4 and _is_weights(part):
            for watcher in found:
                watcher.saw(module, call_of(part))
            break
    return None


def _is_weights(tensor: Tensor) -> bool:
    """Whether rows sum to 1, or to 0 where a query sees nothing: other axes or dropout do not."""
    sums = tensor.detach().float().sum(-1)
    return bool((((sums - 1).abs() < 0.02) | (sums == 0)).all())
