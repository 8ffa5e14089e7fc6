"""Plan: the changes that one call of attention is due, and how they are done to its tensors.

factors                 on the queries, and so on the scores, before the kernel runs
renormalised masks      hidden pairs: the family's own kernel computes with them masked
masks that are not      c_i − a_ij v_j, with the weight that the call gave the pair
edits                   what heads mixed, before it is projected
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.rule import NOTHING, Rule
from regard.errors import RegardError
from regard.inside.intervene.change import Change, Extent
from regard.inside.observe import verify
from regard.inside.observe.call import Call


class CallPlan:
    """What is due to one call; ``allowed`` gives its mask, broadcastable to all pairs."""

    def __init__(
        self, changes: Sequence[Change], extent: Extent, allowed: Callable[[], Tensor | None]
    ) -> None:
        self.extent = extent
        self.edits = [change for change in changes if change.edit is not None]
        self.sharpness = extent.sharpness(changes)
        """(batch, heads, 1, 1): what the family multiplies its queries by."""
        self.hidden: Tensor | None = None
        """(batch, heads, queries, keys), True: masked, and the row is shared out anew."""
        self.dropped: Tensor | None = None
        """The same, True: the weight becomes 0 and the others stay what they are."""
        self.emptied: Tensor | None = None
        """(batch, heads, queries), True: a query that saw something and now sees nothing."""
        self.before: Rule | None = None
        """The call's rule without hidden pairs, where the family puts these into what it is given
        and so into what is observed."""
        masks = [change for change in changes if change.is_mask]
        seen = allowed() if masks else None
        for change in masks:
            self._mask(change, seen)
        if self.hidden is not None:
            before = torch.ones_like(self.hidden) if seen is None else seen.expand_as(self.hidden)
            self.emptied = before.any(-1) & ~(before & ~self.hidden).any(-1)

    def _mask(self, change: Change, seen: Tensor | None) -> None:
        extent = self.extent
        if change.renormalise:
            pairs = self.hidden = extent.nothing() if self.hidden is None else self.hidden
        else:
            pairs = self.dropped = extent.nothing() if self.dropped is None else self.dropped
        extent.mark(change, pairs)
        if change.query is None or change.key is None or seen is None:
            return
        whole = seen.expand(pairs.shape)[extent.row(change)]
        heads = extent.chosen(change.heads, change.where)
        links = whole[:, heads][:, :, extent.rows(change)][..., extent.columns(change)]
        if not bool(links.any()):
            raise RegardError(
                f"the mask of {change.where} lets query {_listed(change.query)} see no key "
                f"{_listed(change.key)} as it is: there is no such link to take away"
            )

    @property
    def masks(self) -> bool:
        """Whether it is about weights, which must then be known."""
        return self.hidden is not None or self.dropped is not None

    def done(self, context: Tensor, call: Callable[[], Call]) -> Tensor:
        """``context`` (batch, heads, queries, width) changed; ``call`` is that of hidden pairs."""
        context = self.mixed(context, call)
        if not self.edits:
            return context
        context = context.clone()
        for change in self.edits:
            assert change.edit is not None
            heads = self.extent.chosen(change.heads, change.where)
            row = self.extent.row(change)
            context[row, heads] = change.edit(context[row, heads]).to(context.dtype)
        return context

    def mixed(self, context: Tensor, call: Callable[[], Call]) -> Tensor:
        """What the changed weights mix; the edits are not yet done."""
        if self.emptied is not None and bool(self.emptied.any()):
            context = context.masked_fill(self.emptied.unsqueeze(-1), 0)
        if self.dropped is None:
            return context
        given = call()
        assert given.value is not None
        rows = self.dropped.flatten(0, 1).any(0).any(-1).nonzero().flatten()
        weights = verify.weights_of(given, rows)
        gone = weights * self.dropped[:, :, rows, : weights.shape[-1]]
        context = context.clone()
        context[:, :, rows] -= verify.mixed(gone, given).to(context.dtype)
        return context

    def seen(self, call: Call) -> Call:
        """A call as it is to be observed after the change.

        Hidden pairs get a score so low that it is a mask: were they in the mask itself, a key that
        nobody sees would look like padding. Where weights are dropped all are kept.
        """
        call = call if self.before is None else replace(call, rule=self.before)
        keys, rule = call.key.shape[-2], call.rule
        if call.weights is None and self.hidden is not None:
            bias = call.query.new_zeros(()) if rule.bias is None else rule.bias
            low = torch.where(self.hidden[..., :keys], NOTHING, bias.float())
            call = replace(call, rule=replace(rule, bias=low), found=None)
        if self.dropped is None:
            return call
        rows = torch.arange(call.queries, device=call.query.device)
        before = verify.weights_of(replace(call, rule=rule), rows)
        weights = verify.weights_of(call, rows).masked_fill(self.dropped[..., :keys], 0)
        return replace(call, rule=Rule(1.0), weights=weights, unchanged=before, found=None)


def _listed(positions: tuple[int, ...] | None) -> str:
    return ", ".join(map(str, positions or ()))
