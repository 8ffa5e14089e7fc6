"""Flow: how much could stream from one word to another through all layers so far (Abnar & Zuidema
2020).

    capacities   C_l = ½ mean_h A_l + ½ I,  from word i after layer l to word j before it
    m_l[i,j]     the maximum flow from word i after layer l to word j at the beginning,
                 each row divided by its sum

Rollout multiplies along every path and adds the paths up; a flow shares its way with others, and
no way carries more than its narrowest part. Each pair of words is a problem of its own, over a
graph of all words in all layers: short texts only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from regard.errors import DataError
from regard.inside.measures.dense import dense_weights, stored
from regard.inside.measures.rollout import with_residual
from regard.inside.observe.layer import Item, ObservedLayer

MOST = 32
"""Tokens up to which flows are sought: n² problems of n² pipes a layer."""
TOGETHER = 1 << 21
"""Pipes of the problems that are worked on at a time."""
EMPTY = 1e-12
"""A store that holds less than this holds nothing."""
FAR = 1 << 30
"""The distance of a store from which nothing more reaches the sink."""


class FlowMeasure:
    """Takes the layers in their order; each has one map in place of its heads.

    An encoder and a decoder each begin anew.
    """

    def __init__(self) -> None:
        self.steps: defaultdict[str, list[Tensor]] = defaultdict(list)
        """By part of the model: the capacities of its layers so far, (n, n) each."""

    def __call__(self, layer: ObservedLayer) -> Item:
        """The layer with the flows up to it in place of its weights."""
        item = layer.item()
        if len(item.columns) > MOST:
            raise DataError(
                f"attention flow solves a problem of n² pipes a layer for each of n² pairs: a text "
                f"may have {MOST} tokens with --measure flow, this one has {len(item.columns):,}; "
                "--measure rollout has no such bound"
            )
        steps = self.steps[layer.part]
        steps.append(with_residual(dense_weights(item).double().mean(0)))
        flows = maximum_flows(steps)
        shares = flows / flows.sum(-1, keepdim=True).clamp_min(1e-30)
        return stored(item, shares.float().unsqueeze(0))


def maximum_flows(steps: Sequence[Tensor]) -> Tensor:
    """(n, n): from each word after the last of ``steps`` to each before the first."""
    n = len(steps[0])
    if len(steps) == 1:
        return steps[0]
    sources, sinks = (x.flatten() for x in torch.meshgrid(*[torch.arange(n)] * 2, indexing="ij"))
    some = max(1, TOGETHER // (n * n * len(steps)))
    found = [
        _flows(steps, *pairs) for pairs in zip(sources.split(some), sinks.split(some), strict=True)
    ]
    return torch.cat(found).reshape(n, n)


def _flows(steps: Sequence[Tensor], sources: Tensor, sinks: Tensor) -> Tensor:
    """(problems,): by pushing what the sources give towards the sinks, and back where it must."""
    problems = Preflow(steps, sources, sinks)
    found = steps[0].new_zeros(len(sources))
    left = torch.arange(len(sources))
    while True:
        distance = problems.distances()
        going = ((problems.held > EMPTY) & (distance < FAR)).flatten(1).any(-1)
        found[left[~going]] = problems.arrived[~going]
        if not bool(going.any()):
            return found
        left = left[going]
        problems.keep(going)
        problems.push(distance[going])


class Preflow:
    """Problems with the same stores between: those after each layer but the last, n a layer.

    A store may hold more than it has passed on. It passes on to a store that is one step nearer to
    the sink, down an open pipe or back up one in which something flows; what can no longer reach
    the sink stays where it is. What has then arrived is the maximum (Goldberg & Tarjan 1988).
    """

    def __init__(self, steps: Sequence[Tensor], sources: Tensor, sinks: Tensor) -> None:
        count, n = len(sources), len(steps[0])
        self.held = steps[0].new_zeros(count, len(steps) - 1, n)
        self.held[:, -1] = steps[-1][sources]
        self.room = torch.stack([*steps])[1:-1].expand(count, -1, -1, -1).clone()
        """(problems, layers between, from, to): what a pipe down from store k + 1 still takes."""
        self.flowing = torch.zeros_like(self.room)
        self.last = steps[0][:, sinks].T.clone()
        """(problems, n): what a pipe from the lowest stores to the sink still takes."""
        self.arrived = steps[0].new_zeros(count)

    def keep(self, some: Tensor) -> None:
        """Go on with some of the problems only."""
        for name in ("held", "room", "flowing", "last", "arrived"):
            setattr(self, name, getattr(self, name)[some])

    def distances(self) -> Tensor:
        """(problems, layers, n): pipes between a store and the sink, on the shortest way there."""
        layers = self.held.shape[1]
        found = torch.full(self.held.shape, FAR)
        found[:, 0] = torch.where(self.last > 0, 1, FAR)
        down, up = self.room > 0, self.flowing > 0
        while True:
            before = found.clone()
            for k in range(1, layers):
                way = torch.where(down[:, k - 1], found[:, k - 1, None], FAR).amin(-1) + 1
                found[:, k] = torch.minimum(found[:, k], way)
            for k in reversed(range(1, layers)):
                way = torch.where(up[:, k - 1], found[:, k, :, None], FAR).amin(-2) + 1
                found[:, k - 1] = torch.minimum(found[:, k - 1], way)
            if torch.equal(before, found):
                return found

    def push(self, distance: Tensor) -> None:
        """Every store, from the sources on, passes on what it holds as far as it can."""
        layers = self.held.shape[1]
        for k in reversed(range(layers)):
            nearer = distance[:, k] - 1
            if k == 0:
                self.arrived += self._give(0, self.last[..., None], nearer[..., None] == 0).sum(
                    (1, 2)
                )
            else:
                ready = distance[:, k - 1, None] == nearer[:, :, None]
                given = self._give(k, self.room[:, k - 1], ready)
                self.flowing[:, k - 1] += given
                self.held[:, k - 1] += given.sum(1)
            if k + 1 < layers:
                ready = distance[:, k + 1, None] == nearer[:, :, None]
                given = self._give(k, self.flowing[:, k].mT, ready)
                self.room[:, k] += given.mT
                self.held[:, k + 1] += given.sum(1)

    def _give(self, k: int, pipes: Tensor, ready: Tensor) -> Tensor:
        """(problems, from, to): what the stores of layer k pass on, pipe after pipe until each is
        full or nothing is left."""
        open_now = torch.where(ready, pipes, 0)
        before = open_now.cumsum(-1) - open_now
        given = torch.minimum((self.held[:, k, :, None] - before).clamp_min(0), open_now)
        pipes -= given
        self.held[:, k] = (self.held[:, k] - given.sum(-1)).clamp_min(0)
        return given
