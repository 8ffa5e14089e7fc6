"""A measure by its name, for whoever looks at a text; and its maps, for a model in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import nn

from regard.attention.map import AttentionMap, StoredMap
from regard.errors import RegardError, nearest
from regard.inside.measures.flow import FlowMeasure
from regard.inside.measures.norm import NormMeasure
from regard.inside.measures.outputs import find_outputs
from regard.inside.measures.rollout import RolloutMeasure
from regard.inside.measures.zeroing import ZeroingMeasure
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe
from regard.pieces.measures import MEASURES

Measure = Callable[[ObservedLayer], Item]


def measure_of(name: str, model: nn.Module, run: Callable[[], object]) -> Measure:
    """The measure called ``name``, of what ``run`` lets ``model`` read.

    For "gradient" ``run`` gives the number whose slope is wanted.
    """
    if name not in MEASURES:
        known = ", ".join(MEASURES)
        raise RegardError(f"a measure is one of {known}, got {name!r}{nearest(name, MEASURES)}")
    if name == "rollout":
        return RolloutMeasure()
    if name == "flow":
        return FlowMeasure()
    if name == "gradient":
        from regard.inside.measures.gradient import GradientMeasure  # brings all interventions

        return GradientMeasure(model, run)
    if name == "value-zeroing":
        return ZeroingMeasure(model, run)
    return NormMeasure(find_outputs(model, run))


def measured_maps(
    model: nn.Module, run: Callable[[], object], name: str, tokens: Sequence[str] = ()
) -> dict[tuple[int, int], AttentionMap]:
    """Maps of a measure by layer and head, of what ``run`` lets ``model`` read (batch item 0).

    >>> maps = measured_maps(model, lambda: model(**inputs), "norm")
    >>> maps[3, 1].top(5)

    Of "rollout", "flow" and "value-zeroing" each layer has one map, as head 0. For "gradient"
    ``run`` gives the number whose slope is wanted: ``lambda: model(**inputs).logits[0, -1].max()``.
    """
    measure = measure_of(name, model, run)
    maps: dict[tuple[int, int], AttentionMap] = {}
    labels = list(tokens)

    def add(layer: ObservedLayer) -> None:
        if layer.kind != "self":
            return
        weights = measure(layer).weights
        assert weights is not None
        for head, rows in enumerate(weights):
            maps[layer.number, head] = StoredMap(rows, queries=labels, keys=labels)

    with observe(model, each=add, values=True):
        run()
    return maps
