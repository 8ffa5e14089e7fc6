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

from torch import Tensor, nn

from regard.attention.kernel import run as native
from regard.attention.rule import Rule
from regard.attention.wanted import Wanted
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
    configs = {id(m.config): m.config for m in _models(model)}
    with ExitStack() as stack:
        stack.enter_context(_registry.changed())
        for config in configs.values():
            if (config._attn_implementation or "eager") not in KNOWN:
                stack.enter_context(_by_sdpa(config))
        stack.enter_context(eager.watch(model, watcher))
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
        stacklevel=9,
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
    given = (module, query, key, value, attention_mask)
    if not found:
        return function(*given, *args, **kwargs)
    with eager.elsewhere(found):
        call = _call(name, *given, kwargs)
        wanted = next((w.observation.wanted for w in found if w.observation.wanted), None)
        if wanted and name == "sdpa" and not kwargs.get("dropout") and not _has_sink(kwargs):
            context, measured = _in_one_pass(call, value, wanted)
            if context is not None:
                for watcher in found:
                    eager.note_call(watcher, module, _for(watcher.observation, measured, wanted))
                return context, None
        output = function(*given, *args, **kwargs)
        sure = _verified(call, output, kwargs)
        for watcher in found:
            if sure is None:
                watcher.missed(module, UNSURE, counted=True)
            else:
                eager.note_call(watcher, module, sure)
        return output


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
