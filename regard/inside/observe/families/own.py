"""regard's own MultiHeadAttention: its projections, computed once more after it ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.attend import attend
from regard.attention.mask import Mask
from regard.attention.multihead import KeyValueCache, MultiHeadAttention
from regard.attention.rule import Rule
from regard.attention.self_attention import over_heads, split
from regard.inside.intervene.hands import seen_through
from regard.inside.observe.call import Call
from regard.inside.observe.watch import Watcher


def find(model: nn.Module) -> bool:
    return any(isinstance(module, MultiHeadAttention) for module in model.modules())


@contextmanager
def watch(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                hook = module.register_forward_hook(partial(_after, watcher), with_kwargs=True)
                stack.callback(hook.remove)
        yield


def _after(
    watcher: Watcher, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any
) -> None:
    if watcher.here and isinstance(module, MultiHeadAttention):
        names = dict(zip(("query", "key", "value"), args, strict=False)) | kwargs
        with torch.no_grad():
            call = call_of(module, names, watcher.observation.values)
        call = seen_through(module, call)
        watcher.saw(module, call, cross=names.get("key") is not None)


def call_of(module: MultiHeadAttention, names: dict[str, Any], values: bool) -> Call:
    """What the module was given, by the names of its arguments; ``values`` too if wanted."""
    call = _call(module, names["query"], names.get("key"), names.get("mask"), names.get("cache"))
    return _with_values(call, module, names) if values else call


def _call(
    module: MultiHeadAttention,
    query: Tensor,
    memory: Tensor | None,
    mask: Mask | Tensor | None,
    cache: KeyValueCache | None,
) -> Call:
    first = cache.length - query.shape[-2] if cache is not None and memory is None else 0
    q = split(module.query(query), module.heads)
    if cache is not None:
        k = cache.all()[0]
    else:
        k = split(module.key(query if memory is None else memory), module.key_heads)
        k = k if module.rotary is None else module.rotary(k, first)
    q = q if module.rotary is None else module.rotary(q, first)
    rule = Rule(module.head_width**-0.5, over_heads(mask, q))
    return Call(_four(q), _four(k), rule)


def _with_values(call: Call, module: MultiHeadAttention, names: dict[str, Any]) -> Call:
    """The values too, and what the fused kernel makes of the same vectors."""
    cache = names.get("cache")
    memory = next((names[n] for n in ("value", "key", "query") if names.get(n) is not None), None)
    v = cache.all()[1] if cache is not None else split(module.value(memory), module.key_heads)
    v = _four(v)
    mask = over_heads(names.get("mask"), call.query)
    groups = module.heads // module.key_heads
    context = attend(call.query, call.key, v, mask=mask, groups=groups).context
    return replace(call, value=v, context=context)


def _four(x: Tensor) -> Tensor:
    """(batch, heads, n, width): several leading axes become one, none becomes one."""
    return x.reshape(-1, *x.shape[-3:])
