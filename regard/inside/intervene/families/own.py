"""regard's own MultiHeadAttention: its mask before it runs, its queries as they are made, and its
heads' outputs before W_O."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.mask import Mask, as_mask
from regard.attention.multihead import MultiHeadAttention
from regard.attention.rule import Rule
from regard.attention.self_attention import over_heads, split
from regard.errors import RegardError
from regard.inside.intervene.hands import Hands
from regard.inside.intervene.plan import CallPlan
from regard.inside.observe.call import Call
from regard.inside.observe.families.own import call_of
from regard.inside.observe.families.own import find as find


class Reach:
    """Between the beginning of one module's call and its projection: what is due."""

    def __init__(self, hands: Hands) -> None:
        self.hands = hands
        self.plan: CallPlan | None = None
        self.given: dict[str, Any] = {}
        self.sharpness: Tensor | None = None
        """Of this call, until the next begins: who observes it makes its queries once more."""

    def before(self, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> Any:
        """Plan what is due, and mask what is to be hidden."""
        assert isinstance(module, MultiHeadAttention)
        if not self.hands.here:
            return None
        given = dict(zip(("query", "key", "value"), args, strict=False)) | kwargs
        memory, cache = given.get("key"), given.get("cache")
        due = self.hands.due(module, cross=memory is not None)
        query: Tensor = given["query"]
        queries = query.shape[-2]
        keys = queries if memory is None else memory.shape[-2]
        keys += cache.length if cache is not None and memory is None else 0
        sizes = (query.shape[:-2].numel(), module.heads, queries, keys)
        mask = as_mask(given.get("mask"))
        beams = cache is not None and queries > 1 and mask is not None and mask.allowed is not None
        if beams and memory is None and any(c.is_mask for c in due[1]):
            raise RegardError(
                "in beam search a query is a hypothesis and no position: mask with one hypothesis "
                "(beam 1), or remove heads"
            )
        extent = self.hands.extent(due[0], sizes, query.device)
        self.plan = self.hands.planned(due, extent, partial(_seen, module, mask, query, keys))
        self.given = given
        self.sharpness = None if self.plan is None else self.plan.sharpness
        if self.plan is None or self.plan.hidden is None:
            return None
        hidden = self.plan.hidden if query.dim() > 2 else self.plan.hidden[0]
        mask = over_heads(mask, query.unsqueeze(-3))
        self.plan.before = Rule(module.head_width**-0.5, mask)
        return args, kwargs | {"mask": (mask or Mask()) & Mask(allowed=~hidden)}

    def sharpen(self, module: MultiHeadAttention, linear: nn.Module, args: Any, made: Any) -> Any:
        """Queries (..., n, heads · width), each head's by its factor."""
        if self.sharpness is None or not self.hands.here:
            return None
        factors = self.sharpness[..., 0, 0].repeat_interleave(module.head_width, -1)
        factors = factors.view(*made.shape[:-2], 1, made.shape[-1])
        return made * factors.to(made.dtype)

    def project(self, module: MultiHeadAttention, linear: nn.Module, args: Any) -> Any:
        """What the heads mixed, side by side, changed before W_O."""
        plan, self.plan = self.plan, None
        if plan is None or not self.hands.here:
            return None
        (joined,) = args
        context = split(joined, module.heads)
        four = context.reshape(-1, *context.shape[-3:])
        changed = plan.done(four, lambda: self._call(module)).view(context.shape)
        return (changed.transpose(-2, -3).reshape(joined.shape),)

    def _call(self, module: MultiHeadAttention) -> Call:
        with torch.no_grad():
            return call_of(module, self.given, values=True)


@contextmanager
def reach(model: nn.Module, hands: Hands) -> Iterator[None]:
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                one = Reach(hands)
                stack.callback(
                    module.register_forward_pre_hook(one.before, with_kwargs=True).remove
                )
                sharpen = partial(one.sharpen, module)
                stack.callback(module.query.register_forward_hook(sharpen).remove)
                project = partial(one.project, module)
                stack.callback(module.output.register_forward_pre_hook(project).remove)
        yield


def _seen(module: MultiHeadAttention, mask: Mask | None, query: Tensor, keys: int) -> Tensor | None:
    queries = query.shape[-2]
    mask = over_heads(mask, query.unsqueeze(-3))
    return None if mask is None else mask.tile((0, queries), (0, keys), queries, keys, query.device)
