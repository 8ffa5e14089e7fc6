"""Engine: run variants of a model in batches, each batch from its first changed layer on.

One unchanged run is kept layer by layer. Variants that begin in the same layer are the rows of one
batch: what stands below them is not computed again, and what stands above is computed for all of
them at once, as wide as the memory allows; the attention in which heads are removed is shared by
its variants, and what stands behind the last attention is computed for the one position that is
measured, if it is one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial

import torch
from torch import Tensor, nn

from regard.inside.ablate.blocks import Blocks, rows_within
from regard.inside.ablate.curves import KnownCurves
from regard.inside.ablate.products import FastProducts
from regard.inside.ablate.shared import Heads, SharedAttentions, removed_alike
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt, Variant
from regard.inside.intervene.change import Extent
from regard.inside.intervene.hands import Hands
from regard.inside.intervene.intervene import intervene
from regard.inside.observe.places import LayerPlace

MEMORY = 1 << 30
"""Bytes for one batch, if nothing is said."""
WIDE = 4096
"""Positions of one batch: more of them at once are no faster, their numbers leave the cache."""


class Engine:
    """A trial under hands, its unchanged output and its heads."""

    def __init__(self, trial: AblationTrial, hands: Hands, memory: int) -> None:
        self.trial, self.hands = trial, hands
        self.blocks, self.shared = Blocks(trial.network), SharedAttentions(trial.network)
        self.places: dict[LayerPlace, int] = {}
        """Where attention is, and how many heads it has there."""
        self.curves, self.products = KnownCurves(trial.network), FastProducts(trial.network)
        self.base = self._first_run()
        self._check_products()
        positions = max(len(trial.pieces), len(trial.written))
        bound = rows_within(trial.network, positions, memory)
        self.rows = max(1, min(bound, max(WIDE // max(positions, 1), 1)))
        self.ending = self._ending()
        """What need not run for other positions than the one that is measured."""

    def _ending(self) -> list[nn.Module]:
        position, run = self.trial.position, partial(self.trial.run, 1)
        if position is None or not self.blocks.modules:
            return []
        behind = self.blocks.after_attention([place.name for place in self.places], run, position)
        last = len(self.blocks.modules) - 1
        inside = [one for name, one in self.shared.known.items() if self.blocks.of(name) == last]
        outputs = [one.product for one in inside if one.product is not None]
        for found in ([*outputs, *behind], behind):
            with self.blocks.from_block(last, 1), self.blocks.at_position(found, position):
                if torch.allclose(run(), self.base, rtol=1e-4, atol=1e-5):
                    return found
        return []  # something above the blocks looks at other positions

    def _first_run(self) -> Tensor:
        def met(place: LayerPlace, extent: Extent) -> None:
            self.places[place] = extent.heads

        self.hands.meets = met
        with self.blocks.kept(), self.shared.kept(), self.products.kept():
            base = self.trial.run(1)
        self.hands.meets = None
        self.shared.find(self.places)
        return base

    def _check_products(self) -> None:
        """Somebody else may look at what stands before an activation: then none is fused."""
        if self.products.known:
            with self.products.fused():
                if not torch.allclose(self.trial.run(1), self.base, rtol=1e-4, atol=1e-5):
                    self.products.known = []

    @cached_property
    def shares(self) -> bool:
        """Whether heads may be removed from shared attention: tried out on one of the last
        attention of each kind, both ways must give the same."""
        for head in {head.part: head for head in self.heads}.values():
            tried = [Variant((head,), how={"by": "zero"})]
            alike, first = removed_alike(tried, self.places), self._first(tried[0])
            alone, shared = (self._batch(tried, first, way) for way in (None, alike))
            if not torch.allclose(alone, shared, rtol=1e-4, atol=1e-5):
                return False
        return True

    @property
    def heads(self) -> list[HeadAt]:
        """All heads of the attention that the trial has."""
        found = []
        for part in self.trial.parts:
            layers = [(p, n) for p, n in self.places.items() if p.answers(None, part)]
            for place, count in layers:
                number = place.number if part in ("encoder", "decoder") else place.order
                found += [HeadAt(part, number, head) for head in range(count)]
        return found

    def run(
        self, variants: Sequence[Variant], done: Callable[[int, int], None] | None = None
    ) -> Iterator[tuple[list[int], Tensor]]:
        """The outputs of variants, in batches: which of them these are, and (rows, …)."""
        groups: dict[int, list[int]] = defaultdict(list)
        for i, variant in enumerate(variants):
            groups[self._first(variant)].append(i)
        finished = 0
        for first in sorted(groups):
            several = groups[first]
            for start in range(0, len(several), self.rows):
                some = several[start : start + self.rows]
                batch = [variants[i] for i in some]
                alike = removed_alike(batch, self.places) if len(batch) > 1 else None
                yield some, self._batch(batch, first, alike if alike and self.shares else None)
                finished += len(some)
                if done:
                    done(finished, len(variants))

    def _first(self, variant: Variant) -> int:
        names = variant.lowest(self.places)
        return min((self.blocks.of(name) for name in names), default=0)

    @contextmanager
    def changed(self, variant: Variant) -> Iterator[None]:
        """Inside the block the network is so changed, in every row and step."""
        self.hands.changes.clear()
        variant.apply(self.hands, None)
        try:
            yield
        finally:
            self.hands.changes.clear()

    def _batch(
        self, variants: Sequence[Variant], first: int, alike: tuple[str, list[Heads]] | None
    ) -> Tensor:
        """``alike``: the attention that they share, and which heads each of them removes."""
        self.hands.changes.clear()
        shared = None if alike is None else self.shared.known.get(alike[0])
        for row, variant in enumerate(variants if shared is None else ()):
            variant.apply(self.hands, row)
        try:
            with ExitStack() as stack:
                stack.enter_context(self.blocks.from_block(first, len(variants)))
                stack.enter_context(self.products.fused())
                stack.enter_context(self.curves.fused())
                if shared is not None and alike is not None:
                    stack.enter_context(shared.removing(alike[1]))
                if self.trial.position is not None:
                    stack.enter_context(self.blocks.at_position(self.ending, self.trial.position))
                return self.trial.run(len(variants))
        finally:
            self.hands.changes.clear()


@contextmanager
def engine(trial: AblationTrial, memory: int = MEMORY) -> Iterator[Engine]:
    """The engine of a trial; its network is as it was when the block is left."""
    with torch.inference_mode(), intervene(trial.network) as hands:
        yield Engine(trial, hands, memory)
