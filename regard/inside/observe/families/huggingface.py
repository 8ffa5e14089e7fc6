"""Hugging Face models (transformers >= 5), through the registry of attention functions.

A model asks the registry for the attention function that its configuration names. While anybody
observes, the registry hands out a function of ours, which calls the one that was asked for and
notes what it is given: the same kernel gets the same numbers, and the configuration, by whose name
some families choose their masks, is not touched. Attention that does not come from the registry is
left to ``families.eager``.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.kernel import run as native
from regard.attention.rule import Rule
from regard.attention.wanted import Wanted
from regard.errors import RegardError
from regard.inside.intervene.hands import hands_on
from regard.inside.intervene.plan import CallPlan
from regard.inside.observe import verify
from regard.inside.observe.call import Call
from regard.inside.observe.families import eager
from regard.inside.observe.families.masks import masked_call
from regard.inside.observe.observation import Observation
from regard.inside.observe.switch import Switch
from regard.inside.observe.watch import Watcher, watchers

KNOWN = ("sdpa", "eager")
"""Attention functions whose masks we can read; others are replaced by sdpa while observing."""
UNSURE = (
    "its queries, keys and mask do not give what its kernel mixed, as with attention sinks "
    "(model.set_attn_implementation('eager') before observing may help)"
)

_lock = threading.Lock()
_users: dict[int, tuple[int, Any, str]] = {}
"""Renamed configurations by id: (how many observe, the configuration, what it said before)."""


def find(model: nn.Module) -> bool:
    return bool(_models(model))


@contextmanager
def watch(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    with registered(model), eager.watch(model, watcher):
        yield


@contextmanager
def registered(model: nn.Module) -> Iterator[None]:
    """Inside the block the registry hands out functions that can be watched and changed."""
    configs = {id(m.config): m.config for m in _models(model)}
    with ExitStack() as stack:
        stack.enter_context(_registry.changed())
        for config in configs.values():
            if (config._attn_implementation or "eager") not in KNOWN:
                stack.enter_context(_by_sdpa(config))
        yield


def _models(model: nn.Module) -> list[Any]:
    """The transformers models in ``model``. If that library was never imported there are none."""
    library = sys.modules.get("transformers.modeling_utils")
    if library is None:
        return []
    return [m for m in model.modules() if isinstance(m, library.PreTrainedModel)]


@contextmanager
def _by_sdpa(config: Any) -> Iterator[None]:
    """Let ``config`` name sdpa; whoever is the last to leave puts the old name back."""
    with _lock:
        users, _, before = _users.get(id(config), (0, config, config._attn_implementation))
        config._attn_implementation_internal = "sdpa"
        _users[id(config)] = users + 1, config, before
    warnings.warn(
        f"attention {before!r} cannot be observed: sdpa computes it while observing, and outputs "
        "may differ by rounding",
        stacklevel=11,
    )
    try:
        yield
    finally:
        with _lock:
            users, _, before = _users.pop(id(config))
            if users > 1:
                _users[id(config)] = users - 1, config, before
            else:
                config._attn_implementation_internal = before


def _hand_out_ours() -> Callable[..., Any]:
    """Let the registry's one door give functions that observe."""
    from transformers import AttentionInterface

    asked: Callable[..., Any] = AttentionInterface.get_interface

    @wraps(asked)
    def get_interface(self: Any, attn_implementation: str, default: Callable[..., Any]) -> Any:
        function = asked(self, attn_implementation, default)
        name = attn_implementation or "eager"
        return partial(_attend, name, function) if name in KNOWN else function

    AttentionInterface.get_interface = get_interface  # type: ignore[method-assign]
    return asked


def _hand_out_theirs(asked: Callable[..., Any]) -> None:
    from transformers import AttentionInterface

    AttentionInterface.get_interface = asked  # type: ignore[method-assign]


_registry = Switch(_hand_out_ours, _hand_out_theirs)


def _attend(
    name: str,
    function: Callable[..., Any],
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """What the registry hands out: ``function``, and a look at what it is given."""
    found = watchers(module)
    plan, mask = planned(name, module, query, key, value, attention_mask, kwargs)
    if plan is not None and plan.sharpness is not None:
        query = query * plan.sharpness.to(query.dtype)
    given = (module, query, key, value, mask)
    if not found and plan is None:
        return function(*given, *args, **kwargs)
    with eager.elsewhere(found):
        call = _call(name, *given, kwargs)
        wanted = next((w.observation.wanted for w in found if w.observation.wanted), None)
        if wanted and not plan and name == "sdpa" and not _is_unlike(kwargs):
            context, measured = _in_one_pass(call, value, wanted)
            if context is not None:
                for watcher in found:
                    eager.note_call(watcher, module, _for(watcher.observation, measured, wanted))
                return context, None
        output = function(*given, *args, **kwargs)
        sure = _verified(call, output, kwargs)
        if plan is not None:
            before = _call(name, module, query, key, value, attention_mask, kwargs)
            output, sure = _changed(plan, module, output, before, sure)
        for watcher in found:
            if sure is None:
                watcher.missed(module, UNSURE, counted=True)
            else:
                eager.note_call(watcher, module, sure)
        return output


def planned(
    name: str,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    given: Mapping[str, Any],
) -> tuple[CallPlan | None, Tensor | None]:
    """What is due to a call, and its mask with the pairs that are to be hidden."""
    plan = None
    for hands in hands_on(module):
        due = hands.due(module)
        sizes = (*query.shape[:3], key.shape[-2])
        extent = hands.extent(due[0], sizes, query.device)
        call = partial(_call, name, module, query, key, value, mask, given)
        found = hands.planned(due, extent, partial(_seen, call, key.shape[-2]))
        if found is None:
            continue
        if plan is not None:
            raise RegardError("one block of intervene at a time may change a layer")
        plan = found
        if plan.hidden is not None:
            mask = _hiding(name, mask, plan.hidden, call)
    return plan, mask


def _seen(call: Callable[[], Call], whole: int) -> Tensor | None:
    """The pairs that a call's mask allows, over (batch, heads, queries, ``whole`` keys)."""
    found = call()
    if found.rule.mask is None:
        return None
    queries, keys = found.query.shape[-2], found.key.shape[-2]
    seen = found.rule.mask.tile((0, queries), (0, keys), queries, keys, found.query.device)
    assert seen is not None
    return torch.nn.functional.pad(seen, (0, whole - keys))  # causal: none behind the queries


def _hiding(name: str, mask: Tensor | None, hidden: Tensor, call: Callable[[], Call]) -> Tensor:
    """The mask as the family's function takes it, with ``hidden`` pairs masked too."""
    if mask is not None:
        mask = mask[..., : hidden.shape[-1]]
        if not mask.is_floating_point():
            return mask.bool() & ~hidden
        return mask.masked_fill(hidden, torch.finfo(mask.dtype).min)
    before = _seen(call, hidden.shape[-1])
    seen = ~hidden if before is None else before & ~hidden
    if name == "sdpa":
        return seen
    dtype = call().query.dtype
    return torch.zeros_like(seen, dtype=dtype).masked_fill(~seen, torch.finfo(dtype).min)


def _changed(
    plan: CallPlan, module: nn.Module, output: Any, before: Call, sure: Call | None
) -> tuple[Any, Call | None]:
    """The output with the plan done to it, and the call as it is to be observed: ``before`` is
    what was given, ``sure`` with hidden pairs masked."""
    context = output[0].transpose(1, 2)
    if sure is None:
        if plan.masks:
            raise RegardError(f"the weights of {type(module).__name__} cannot be changed: {UNSURE}")
        seen = None
    else:
        known = sure if sure.weights is not None else before
        seen = replace(plan.seen(known), context=plan.mixed(context, lambda: sure))
    changed = plan.done(context, lambda: before if sure is None else sure)
    return (changed.transpose(1, 2), *output[1:]), seen


def _is_unlike(given: Mapping[str, Any]) -> bool:
    """Whether a call is none that our kernel computes."""
    return bool(given.get("dropout")) or _has_sink(given)


def _has_sink(given: Mapping[str, Any]) -> bool:
    """Whether a number that is no key takes part in softmax."""
    return given.get("s_aux") is not None


def _verified(call: Call, output: Any, given: Mapping[str, Any]) -> Call | None:
    """The call; or if queries and keys do not explain its output, as of a softmax with a sink that
    is no key, the weights that eager attention gave, if these do."""
    context, weights = output[0], output[1]
    if context.dim() != 4:
        return None
    call = replace(call, context=context.transpose(1, 2))
    if given.get("dropout") or (not _has_sink(given) and verify.explained(call)):
        return call
    if weights is not None and weights.shape[:3] == call.query.shape[:3]:
        kept = replace(call, weights=weights.detach(), rule=Rule(1.0))
        if verify.problem_of_weights(weights) is None and verify.explained(kept):
            return kept
    return None


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


def _call(
    name: str,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    given: Mapping[str, Any],
) -> Call:
    """What was given, as one call; sdpa's rules for a missing mask are those of transformers."""
    causal = name == "sdpa" and mask is None and query.shape[-2] > 1 and _is_causal(module, given)
    return masked_call(
        query,
        key,
        value,
        mask,
        causal,
        scale=given.get("scaling"),
        bias=given.get("position_bias"),
        softcap=given.get("softcap") if name == "eager" else None,  # sdpa knows none
    )


def _is_causal(module: nn.Module, given: Mapping[str, Any]) -> bool:
    asked = given.get("is_causal")
    return bool(getattr(module, "is_causal", True) if asked is None else asked)
