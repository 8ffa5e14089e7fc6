"""nn.MultiheadAttention: a mask for each head before it runs, and what heads add put right after.

What the module puts out is the sum of what its heads mixed, each projected. A head that mixed c and
is to put out c' therefore changes the output by (c' − c) W_O.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.mask import Mask
from regard.errors import RegardError
from regard.inside.intervene.hands import Hands
from regard.inside.intervene.plan import CallPlan
from regard.inside.observe import verify
from regard.inside.observe.call import Call
from regard.inside.observe.families.torchmodules import bound, call_of, fast_paths, is_same
from regard.inside.observe.families.torchmodules import find as find


class TorchReach:
    """Between the beginning of one module's call and its end: what is due."""

    def __init__(self, hands: Hands) -> None:
        self.hands = hands
        self.plan: CallPlan | None = None
        self.call: Call | None = None

    def before(self, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> Any:
        assert isinstance(module, nn.MultiheadAttention)
        if not self.hands.here:
            return None
        given = bound(module, args, kwargs)
        due = self.hands.due(module, cross=not is_same(given["query"], given["key"]))
        self.plan = None
        if not due[1] and self.hands.meets is None:
            return None
        with torch.no_grad():
            call = call_of(module, given, values=True)
        sizes = (*call.query.shape[:3], call.key.shape[-2])
        extent = self.hands.extent(due[0], sizes, call.query.device, cached=False)
        self.plan = self.hands.planned(due, extent, lambda: _seen(call))
        if self.plan is None:
            return None
        if self.plan.sharpness is not None:
            raise RegardError("the scores of nn.MultiheadAttention cannot be sharpened")
        if module.bias_k is not None or module.add_zero_attn:
            raise RegardError(
                "nn.MultiheadAttention with add_bias_kv or add_zero_attn has keys that belong to "
                "no token, and cannot be changed"
            )
        self.call, self.plan.before = _hiding(call, self.plan.hidden), call.rule
        if self.plan.hidden is None or self.plan.emptied is None:
            return None
        if bool(self.plan.emptied.any()):
            raise RegardError(
                "a query of nn.MultiheadAttention that may look at nothing gives NaN: leave it "
                "one key at least"
            )
        hidden = self.plan.hidden.flatten(0, 1)
        mask: Tensor | None = given["attn_mask"]
        if mask is None:
            mask = hidden
        elif mask.dtype == torch.bool:
            mask = mask | hidden
        else:
            mask = mask.masked_fill(hidden, float("-inf"))
        given |= {"attn_mask": mask, "is_causal": False}
        given.pop("self")
        return (), given

    def after(self, module: nn.Module, args: Any, output: Any) -> Any:
        assert isinstance(module, nn.MultiheadAttention)
        plan, call, self.plan = self.plan, self.call, None
        if plan is None or call is None or not self.hands.here:
            return None
        rows = torch.arange(call.queries, device=call.query.device)
        context = verify.mixed(verify.weights_of(call, rows), call)
        moved = plan.done(context, lambda: call) - context
        joined = moved.transpose(1, 2).flatten(2).to(output[0].dtype)
        if not module.batch_first and output[0].dim() == 3:
            joined = joined.transpose(0, 1)
        added = joined @ module.out_proj.weight.t()
        return (output[0] + added.reshape(output[0].shape), *output[1:])


@contextmanager
def reach(model: nn.Module, hands: Hands) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(fast_paths.changed())
        for module in model.modules():
            if isinstance(module, nn.MultiheadAttention):
                one = TorchReach(hands)
                before = module.register_forward_pre_hook(one.before, with_kwargs=True)
                stack.callback(before.remove)
                stack.callback(module.register_forward_hook(one.after).remove)
        yield


def _seen(call: Call) -> Tensor | None:
    return None if call.rule.mask is None else call.rule.mask.allowed


def _hiding(call: Call, hidden: Tensor | None) -> Call:
    """The call with hidden pairs masked too."""
    if hidden is None:
        return call
    mask = call.rule.mask or Mask()
    return replace(call, rule=replace(call.rule, mask=mask & Mask(allowed=~hidden)))
