"""Value zeroing: how much a word's vector changes if another word's value is taken away (Mohebbi et
al. 2023).

    m[i,j] = 1 − cos(y_i, y_i without v_j),  each row divided by its sum

y is what the layer hands on. Weights stay as they are and v_j becomes zero in all heads of this
layer alone; norms and feed-forward network then do what they do with what is left. Many words are
taken away at once, each in a copy of the text of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import ModelError
from regard.inside.anatomy.runs import INPUT, layers_of
from regard.inside.measures.dense import dense_weights, stored
from regard.inside.measures.outputs import Outputs, find_outputs
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe

CACHES = ("layer_past", "past_key_value", "past_key_values")
"""What layers call the keys and values of what they read before: a copy must not add to it."""
NUMBERS = 1 << 24
"""Numbers of the copies of a text that are held at a time."""


@dataclass
class LayerCall:
    """A layer as it was called, and what it handed on."""

    module: nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    made: Tensor
    """(1, tokens, width)"""


class ZeroingMeasure:
    """The change of every word by every other, of all layers, from one pass and its copies.

    All of it is computed at once: a layer is not run again while it runs.
    """

    def __init__(self, model: nn.Module, run: Callable[[], object]) -> None:
        outputs, calls = find_outputs(model, run), dict[str, LayerCall]()
        with kept_calls(model, calls), observe(model, values=True) as observation:
            run()
        self.shares: dict[str, Tensor] = {}
        for layer in observation.layers:
            name = next((n for n in calls if layer.name.startswith(f"{n}.")), None)
            if layer.kind == "self" and name is not None:
                output = outputs[layer.name]
                found = changes(calls[name], output.module, _brought(layer.item(), output))
                self.shares[layer.name] = found / found.sum(-1, keepdim=True).clamp_min(1e-30)

    def __call__(self, layer: ObservedLayer) -> Item:
        """The layer with these shares in place of its weights."""
        if layer.name not in self.shares:
            raise ModelError(
                f"{layer.name} is in no layer that can be run by itself: value zeroing needs one"
            )
        return stored(layer.item(), self.shares[layer.name][None])


@contextmanager
def kept_calls(model: nn.Module, calls: dict[str, LayerCall]) -> Iterator[None]:
    """Keep every layer of ``model`` as it is called inside the block."""
    names = layers_of(model)

    def keep(module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        name = names[id(module)]
        if name in calls:
            raise ModelError(f"{name} runs several times in one pass: value zeroing knows one")
        made = output[0] if isinstance(output, tuple) else output
        calls[name] = LayerCall(module, args, dict(kwargs), made.detach())

    with ExitStack() as stack:
        for module in model.modules():
            if id(module) in names:
                hook = module.register_forward_hook(keep, with_kwargs=True)
                stack.callback(hook.remove)
        yield


def _brought(item: Item, output: Outputs) -> Tensor:
    """(keys, queries, width): what all heads together bring each query from each key."""
    assert item.value is not None
    matrix = torch.from_numpy(output.matrix).to(item.value)
    value = item.value.repeat_interleave(len(matrix) // len(item.value), 0)
    return torch.einsum("hqk,hkd->kqd", dense_weights(item), value @ matrix)


@torch.no_grad()
def changes(call: LayerCall, output: nn.Module, brought: Tensor) -> Tensor:
    """(queries, keys): 1 − cos between what the layer hands on with and without each key."""
    n, keys = call.made.shape[1], len(brought)
    some = max(1, NUMBERS // max(1, call.made.numel()))
    found = []
    for first in range(0, keys, some):
        gone = brought[first : first + some]

        def without(module: nn.Module, args: Any, made: Tensor, gone: Tensor = gone) -> Tensor:
            return made - gone.reshape(made.shape).to(made)

        hook = output.register_forward_hook(without)
        try:
            made = _again(call, len(gone))
        finally:
            hook.remove()
        own = call.made.expand_as(made)
        found.append(1 - torch.cosine_similarity(own.double(), made.double(), dim=-1))
    return torch.cat(found).T.reshape(n, keys).clamp_min(0).float()


def _again(call: LayerCall, copies: int) -> Tensor:
    """What the layer hands on, (copies, tokens, width), of so many copies of what it was given."""
    args, done = list(call.args), False
    kwargs: dict[str, Any] = {n: None if n in CACHES else x for n, x in call.kwargs.items()}
    for place, x in enumerate(args):
        if isinstance(x, Tensor) and x.shape == call.made.shape and not done:
            args[place], done = x.expand(copies, -1, -1), True
    if not done:
        kwargs[INPUT] = kwargs[INPUT].expand(copies, -1, -1)
    made = call.module(*args, **kwargs)
    found: Tensor = made[0] if isinstance(made, tuple) else made
    return found
