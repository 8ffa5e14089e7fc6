"""Watcher: hands what attention modules are given to one observation, while it is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import nn

from regard.inside.observe.call import Call, follows, kept, step
from regard.inside.observe.freed import Freed
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observation import Observation
from regard.inside.observe.places import Places, counting, is_cross, opened


class Watcher(Places):
    """The layers of one model as they are called; tells steps of one text apart."""

    def __init__(
        self,
        model: nn.Module,
        observation: Observation,
        each: Callable[[ObservedLayer], None] | None = None,
    ) -> None:
        super().__init__(model)
        self.observation = observation
        self.each = each
        self.freed = Freed()
        self.layers: dict[tuple[str, int], ObservedLayer | None] = {}
        self.count = 0
        self.stored = False
        """Whether weights are kept instead of queries and keys."""

    def saw(self, module: nn.Module, call: Call, cross: bool | None = None) -> None:
        """``module`` was called."""
        place = self.called(module)
        self.count += 1
        if place not in self.layers:
            crossing = is_cross(module, place[0]) if cross is None else cross
            self.layers[place] = self._new(place[0], crossing)
        layer = self.layers[place]
        if layer is None:
            return
        self.stored |= call.weights is not None and call.unchanged is None
        crosses = layer.kind == "cross"
        observation = self.observation
        call = kept(call, observation.chosen_heads, observation.dtype, observation.values)
        if layer.calls and follows(call, layer.calls, crosses):
            layer.go_on(step(call, layer.calls, crosses))
        else:
            layer.begin(call)
        if self.each is not None:
            self.each(layer)
            layer.drop()
            self.freed.add(call.query.nbytes + call.key.nbytes)

    def missed(self, module: nn.Module, reason: str, counted: bool) -> None:
        """The attention of ``module`` could not be told. ``counted``: it is a layer all the same,
        so that those after it keep the numbers that they have in the model."""
        name = self.names[id(module)]
        self.observation.unseen.setdefault(name, reason)
        if counted:
            place = self.called(module)
            if place not in self.layers:
                self.numbered(name, is_cross(module, name))
            before = self.layers.get(place)
            if before is not None:  # seen in a text that is no longer the last
                self.observation.layers.remove(before)
            self.layers[place] = None

    def _new(self, name: str, cross: bool) -> ObservedLayer | None:
        place = self.numbered(name, cross)
        chosen, heads = self.observation.chosen_layers, self.observation.chosen_heads
        if chosen is not None and place.number not in chosen:
            return None
        layer = ObservedLayer(name, place.kind, place.part, place.number, heads)
        self.observation.layers.append(layer)
        return layer


def watchers(module: nn.Module) -> list[Watcher]:
    """The open watchers of this thread or task whose model has ``module``."""
    return [some for some in opened() if isinstance(some, Watcher) and id(module) in some.names]


@contextmanager
def watching(
    model: nn.Module, observation: Observation, each: Callable[[ObservedLayer], None] | None = None
) -> Iterator[Watcher]:
    """Open a watcher of ``model``."""
    watcher = Watcher(model, observation, each)
    with counting(model, watcher):
        yield watcher
