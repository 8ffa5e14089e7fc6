"""Hugging Face models (transformers >= 5), through the registry of attention functions.

A model's configuration names its attention function. While it is observed the name is that of a
function of ours, which notes what it is given and calls the function that the model was using,
with the masks that this function wants: the same kernel gets the same numbers. Families that do
not ask the registry are left to ``families.eager``.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast

from torch import Tensor, nn

from regard.attention.kernel import run as native
from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.attention.wanted import Wanted
from regard.errors import RegardError
from regard.inside.observe.call import Call
from regard.inside.observe.families import eager
from regard.inside.observe.families.masks import split_additive
from regard.inside.observe.observation import Observation
from regard.inside.observe.watch import watchers

KNOWN = ("sdpa", "eager")
"""Attention functions whose masks we can read; others are replaced by sdpa while observing."""

_lock = threading.Lock()
_users: dict[int, tuple[int, Any, str | None]] = {}
"""Observed configurations by id: (how many observe, the configuration, what it said before)."""


def find(model: nn.Module) -> bool:
    return bool(_models(model))


@contextmanager
def watch(model: nn.Module) -> Iterator[None]:
    able = {id(m): m._can_set_attn_implementation() for m in _models(model)}
    others = [m for m in _models(model) if not able[id(m)]]
    with ExitStack() as stack:
        configs = {id(m.config): m.config for m in _models(model) if able[id(m)]}
        for config in configs.values():
            stack.enter_context(_renamed(config))
        for other in others:
            stack.enter_context(eager.watch(other))
        if others:
            name = type(others[0]).__name__
            warnings.warn(
                f"{name} does not use transformers' attention registry: regard keeps the weights "
                "of its eager attention (layers x heads x n² numbers) instead of queries and keys",
                stacklevel=6,
            )
        yield


def _models(model: nn.Module) -> list[Any]:
    """The transformers models in ``model``. If that library was never imported there are none."""
    library = sys.modules.get("transformers.modeling_utils")
    if library is None:
        return []
    return [m for m in model.modules() if isinstance(m, library.PreTrainedModel)]


@contextmanager
def _renamed(config: Any) -> Iterator[None]:
    """Let ``config`` name our function; whoever is the last to leave puts the old name back."""
    with _lock:
        users, _, before = _users.get(id(config), (0, config, config._attn_implementation))
        if users == 0:
            config._attn_implementation_internal = _registered(before)
        _users[id(config)] = users + 1, config, before
    try:
        yield
    finally:
        with _lock:
            users, _, before = _users.pop(id(config))
            if users > 1:
                _users[id(config)] = users - 1, config, before
            else:
                config._attn_implementation_internal = before


def _registered(before: str | None) -> str:
    """The name of our function that calls ``before``, registered if it is not yet."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    inner = before or "eager"
    if inner not in KNOWN:
        warnings.warn(
            f"attention {inner!r} cannot be observed: sdpa computes it while observing, and "
            "outputs may differ by rounding",
            stacklevel=10,
        )
        inner = "sdpa"
    name = f"regard_{inner}"
    AttentionInterface.register(name, partial(_attend, inner))
    AttentionMaskInterface.register(name, ALL_MASK_ATTENTION_FUNCTIONS[inner])
    return name


def _attend(
    inner: str,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """The function that models find in the registry while one of them is observed."""
    found = watchers(module)
    wanted = next((w.observation.wanted for w in found if w.observation.wanted), None)
    if wanted and inner == "sdpa" and not kwargs.get("dropout") and kwargs.get("s_aux") is None:
        call = _call(inner, module, query, key, value, attention_mask, None, kwargs)
        context, call = _in_one_pass(call, value, wanted)
        if context is not None:
            for watcher in found:
                watcher.saw(module, _for(watcher.observation, call, wanted))
            return context, None
    output = _inner(inner, module)(module, query, key, value, attention_mask, *args, **kwargs)
    for watcher in found:
        call = _call(inner, module, query, key, value, attention_mask, output, kwargs)
        watcher.saw(module, call)
    return output


def _in_one_pass(call: Call, value: Tensor, wanted: Wanted) -> tuple[Tensor | None, Call]:
    """The output (batch, queries, heads, width) and the call with its statistics, by our kernel."""
    value = value[:, :, : call.key.shape[-2]]
    kernel = native.usable(call.query, call.key, value, wanted)
    if kernel is None:
        return None, call
    context, found = native.run(kernel, call.query, call.key, value, call.rule, wanted)
    assert context is not None
    call = replace(call, found=found, context=context)
    return context.transpose(1, 2).contiguous(), call


def _for(observation: Observation, call: Call, wanted: Wanted) -> Call:
    """The call as one observation of several gets it: statistics only if it asked for these."""
    return call if observation.wanted == wanted else replace(call, found=None)


def _inner(name: str, module: nn.Module) -> Callable[..., Any]:
    """The function that ``module`` would have called: its own file may have its own."""
    for kind in type(module).__mro__:
        home = sys.modules.get(kind.__module__)
        if name == "eager":
            found = getattr(home, "eager_attention_forward", None)
        else:
            found = getattr(home, "ALL_ATTENTION_FUNCTIONS", {}).get(name)
        if found is not None:
            return cast(Callable[..., Any], found)
    raise RegardError(
        f"the {name} attention of {type(module).__name__} was not found; choose another with "
        "model.set_attn_implementation before observing"
    )


def _call(
    inner: str,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    output: Any,
    given: dict[str, Any],
) -> Call:
    """What was given, as one call; sdpa's rules for a missing mask are those of transformers."""
    if given.get("s_aux") is not None:  # a sink that takes part in softmax and is no key
        if output[1] is None:
            raise RegardError(
                f"{type(module).__name__} has attention sinks, whose weights queries and keys do "
                "not give; use model.set_attn_implementation('eager') before observing"
            )
        return eager.call_of(output[1])
    scale = given.get("scaling")
    bias = given.get("position_bias")
    allowed: Tensor | None = None
    if mask is not None:
        mask = mask[..., : key.shape[-2]]
        allowed, added = (mask, None) if not mask.is_floating_point() else split_additive(mask)
        allowed = None if allowed is None else allowed.bool()
        if added is not None:
            bias = added if bias is None else bias + added
    rules = None if allowed is None else Mask(allowed=allowed)
    if inner == "sdpa" and mask is None and query.shape[-2] > 1 and _is_causal(module, given):
        # From the upper left: a query sees as many keys as there are queries up to it.
        rules = Mask(causal=True)
        key, value = key[:, :, : query.shape[-2]], value[:, :, : query.shape[-2]]
        bias = None if bias is None else bias[..., : query.shape[-2]]
    return Call(
        query,
        key,
        Rule(
            query.shape[-1] ** -0.5 if scale is None else float(scale),
            rules,
            None if bias is None else bias.detach().float(),
            given.get("softcap") if inner == "eager" else None,  # sdpa knows none
        ),
        value=value,
        context=None if output is None else output[0].transpose(1, 2),
    )


def _is_causal(module: nn.Module, given: dict[str, Any]) -> bool:
    told = given.get("is_causal")
    return bool(getattr(module, "is_causal", True) if told is None else told)
