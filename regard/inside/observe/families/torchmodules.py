"""nn.MultiheadAttention, alone or in nn.Transformer's layers.

In evaluation these take fast paths that call no submodule; they are off while anybody observes.
The projections are computed once more after the module ran; the module itself is not touched.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.inside.intervene.hands import seen_through
from regard.inside.observe.call import Call
from regard.inside.observe.families.masks import split_additive
from regard.inside.observe.switch import Switch
from regard.inside.observe.watch import Watcher

_ARGUMENTS = inspect.signature(nn.MultiheadAttention.forward)


def find(model: nn.Module) -> bool:
    return any(isinstance(module, nn.MultiheadAttention) for module in model.modules())


@contextmanager
def watch(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(fast_paths.changed())
        for module in model.modules():
            if isinstance(module, nn.MultiheadAttention):
                hook = module.register_forward_hook(partial(_after, watcher), with_kwargs=True)
                stack.callback(hook.remove)
        yield


def _leave_fast_paths() -> bool:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    return before


fast_paths = Switch(_leave_fast_paths, torch.backends.mha.set_fastpath_enabled)


def _after(
    watcher: Watcher, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any
) -> None:
    if watcher.here and isinstance(module, nn.MultiheadAttention):
        names = bound(module, args, kwargs)
        with torch.no_grad():
            call = call_of(module, names, watcher.observation.values)
        call = seen_through(module, call)
        watcher.saw(module, call, cross=not is_same(names["query"], names["key"]))


def bound(module: nn.MultiheadAttention, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """All that the module was given, by the names of its arguments."""
    given = _ARGUMENTS.bind(module, *args, **kwargs)
    given.apply_defaults()
    return dict(given.arguments)


def call_of(module: nn.MultiheadAttention, names: dict[str, Any], values: bool) -> Call:
    """The call of what the module was given; ``values`` too if wanted."""
    wanted = ("query", "key", "key_padding_mask", "attn_mask")
    call = _call(module, **{name: names[name] for name in wanted})
    return replace(call, value=_values(module, names["value"])) if values else call


def is_same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors are the same numbers in the same place: then attention is to itself."""
    place = [(t.data_ptr(), t.shape, t.stride()) for t in (one, other)]
    return place[0] == place[1]


def _call(
    module: nn.MultiheadAttention,
    query: Tensor,
    key: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
) -> Call:
    q_bias, k_bias = (None, None)
    if module.in_proj_bias is not None:
        q_bias, k_bias, _ = module.in_proj_bias.chunk(3)
    if module.in_proj_weight is not None:
        q_weight, k_weight, _ = module.in_proj_weight.chunk(3)
    else:
        q_weight, k_weight = module.q_proj_weight, module.k_proj_weight
    q = _heads(module, F.linear(query, q_weight, q_bias))
    k = _heads(module, F.linear(key, k_weight, k_bias))
    own = 0  # keys that belong to no token
    if module.bias_k is not None:
        bias = module.bias_k.view(1, module.num_heads, 1, module.head_dim)
        k, own = torch.cat((k, bias.expand(len(k), -1, -1, -1)), -2), own + 1
    if module.add_zero_attn:
        k, own = F.pad(k, (0, 0, 0, 1)), own + 1
    rule = _rule(q, key_padding_mask, attn_mask, own)
    return Call(q, k, rule)


def _values(module: nn.MultiheadAttention, value: Tensor) -> Tensor:
    weight: Tensor = module.v_proj_weight
    bias: Tensor | None = None
    if module.in_proj_weight is not None:
        weight = module.in_proj_weight.chunk(3)[2]
    if module.in_proj_bias is not None:
        bias = module.in_proj_bias.chunk(3)[2]
    v = _heads(module, F.linear(value, weight, bias))
    if module.bias_v is not None:
        own = module.bias_v.view(1, module.num_heads, 1, module.head_dim)
        v = torch.cat((v, own.expand(len(v), -1, -1, -1)), -2)
    return F.pad(v, (0, 0, 0, 1)) if module.add_zero_attn else v


def _heads(module: nn.MultiheadAttention, x: Tensor) -> Tensor:
    """(batch, heads, n, d) of (n, width), (batch, n, width) or (n, batch, width)."""
    if x.dim() == 2:
        x = x.unsqueeze(0)
    elif not module.batch_first:
        x = x.transpose(0, 1)
    return x.view(*x.shape[:2], module.num_heads, module.head_dim).transpose(1, 2)


def _rule(q: Tensor, padding: Tensor | None, mask: Tensor | None, own: int) -> Rule:
    """PyTorch's boolean masks say True where a query may NOT attend."""
    allowed: Tensor | None = None
    bias: Tensor | None = None
    if padding is not None:
        padding = padding.view(-1, 1, 1, padding.shape[-1])
    if mask is not None and mask.dim() == 3:
        mask = mask.view(q.shape[0], q.shape[1], *mask.shape[-2:])
    for part in (padding, mask):
        if part is None:
            continue
        free, added = (~part, None) if part.dtype == torch.bool else split_additive(part)
        if free is not None:
            free = F.pad(free, (0, own), value=True)
            allowed = free if allowed is None else allowed & free
        if added is not None:
            added = F.pad(added, (0, own))
            bias = added if bias is None else bias + added
    return Rule(q.shape[-1] ** -0.5, None if allowed is None else Mask(allowed=allowed), bias)
