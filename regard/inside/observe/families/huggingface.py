"""Hugging Face models (transformers >= 5), through the registry of attention functions.

A model's configuration names its attention function. While it is observed the name is that of a
function of ours, which notes what it is given and calls the function that the model was using,
with the masks that this function wants: the same kernel gets the same numbers. Families that do
not ask the registry, and parts of such that do, are left to ``families.eager``.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, cast

from torch import Tensor, nn

from regard.attention.kernel import run as native
from regard.attention.kernel.library import MOST_TOP
from regard.attention.statistics import PoolGrid, Rule
from regard.errors import RegardError
from regard.inside.observe import verify
from regard.inside.observe.call import Call
from regard.inside.observe.families import eager
from regard.inside.observe.families.masks import masked_call
from regard.inside.observe.observation import Observation
from regard.inside.observe.watch import Watcher, watchers

KNOWN = ("sdpa", "eager")
"""Attention functions whose masks we can read; others are replaced by sdpa while observing."""

UNSURE = (
    "its queries, keys and mask do not give what its kernel mixed, as with attention sinks "
    "(model.set_attn_implementation('eager') before observing may help)"
)

_lock = threading.Lock()
_users: dict[int, tuple[int, Any, str | None]] = {}
"""Observed configurations by id: (how many observe, the configuration, what it said before)."""


def find(model: nn.Module) -> bool:
    return bool(_models(model))


@contextmanager
def watch(model: nn.Module, watcher: Watcher) -> Iterator[None]:
    able = [m for m in _models(model) if m._can_set_attn_implementation()]
    with ExitStack() as stack:
        for config in {id(m.config): m.config for m in able}.values():
            stack.enter_context(_renamed(config))
        stack.enter_context(eager.watch(model, watcher))
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
    given = (module, query, key, value, attention_mask)
    with eager.elsewhere(found):
        return _observed(found, inner, given, args, kwargs)


def _observed(
    found: Sequence[Watcher],
    inner: str,
    given: tuple[nn.Module, Tensor, Tensor, Tensor, Tensor | None],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    module, value = given[0], given[3]
    wanted = next((w.observation.wanted for w in found if w.observation.wanted), None)
    if wanted and inner == "sdpa" and not kwargs.get("dropout") and kwargs.get("s_aux") is None:
        context, call = _in_one_pass(_call(inner, *given, kwargs), value, wanted)
        if context is not None:
            for watcher in found:
                eager.tell(watcher, module, _for(watcher.observation, call, wanted))
            return context, None
    output = _inner(inner, module)(*given, *args, **kwargs)
    if found:
        call = replace(_call(inner, *given, kwargs), context=output[0].transpose(1, 2))
        sure = _verified(call, output[1], kwargs)
        for watcher in found:
            if sure is None:
                watcher.missed(module, UNSURE, counted=True)
            else:
                eager.tell(watcher, module, sure)
    return output


def _verified(call: Call, weights: Tensor | None, given: Mapping[str, Any]) -> Call | None:
    """The call; or if queries and keys do not explain its output, as of a softmax with a sink that
    is no key, the weights that eager attention gave, if these do."""
    if given.get("dropout") or (given.get("s_aux") is None and verify.explained(call)):
        return call
    if weights is not None and weights.shape[:3] == call.query.shape[:3]:
        kept = replace(call, weights=weights.detach(), rule=Rule(1.0))
        if verify.problem_of_weights(weights) is None and verify.explained(kept):
            return kept
    return None


def _in_one_pass(
    call: Call, value: Tensor, wanted: Mapping[str, int]
) -> tuple[Tensor | None, Call]:
    """The output (batch, queries, heads, width) and the call with its statistics, by our kernel."""
    value = value[:, :, : call.key.shape[-2]]
    kernel = native.usable(call.query, call.key, value)
    if kernel is None or not call.queries or wanted.get("top", 0) > MOST_TOP:
        return None, call
    grid = None
    if wanted.get("cells"):
        grid = PoolGrid(call.queries, call.key.shape[-2], wanted["cells"])
    context, found = native.run(
        kernel,
        call.query,
        call.key,
        value,
        scale=call.rule.scale,
        mask=call.rule.mask,
        bias=call.rule.bias,
        softcap=call.rule.softcap,
        wanted=native.Wanted(
            True,
            wanted.get("top", 0),
            bool(wanted.get("entropy")),
            bool(wanted.get("received")),
            None if grid is None else (grid.rows, grid.columns),
        ),
    )
    assert context is not None
    call = replace(call, found=found, context=context)
    return context.transpose(1, 2).contiguous(), call


def _for(observation: Observation, call: Call, wanted: Mapping[str, int]) -> Call:
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
    given: Mapping[str, Any],
) -> Call:
    """What was given, as one call; sdpa's rules for a missing mask are those of transformers."""
    causal = inner == "sdpa" and mask is None and query.shape[-2] > 1 and _is_causal(module, given)
    return masked_call(
        query,
        key,
        value,
        mask,
        causal,
        scale=given.get("scaling"),
        bias=given.get("position_bias"),
        softcap=given.get("softcap"),
    )


def _is_causal(module: nn.Module, given: Mapping[str, Any]) -> bool:
    told = given.get("is_causal")
    return bool(getattr(module, "is_causal", True) if told is None else told)
