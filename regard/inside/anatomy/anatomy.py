"""Anatomy: what every part of a model adds to the vector of one word, from one pass.

Attention is observed (its heads, weights and values), every other module is recorded, and each
layer is read as soon as it has run: memory is that of one layer, and of one row of all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torch import Tensor, nn

from regard.errors import ModelError
from regard.inside.anatomy.ending import Ending, ending_of
from regard.inside.anatomy.layer import LayerAnatomy, Sublayer, anatomy_of
from regard.inside.anatomy.runs import ModuleRun, layers_of, recorded
from regard.inside.anatomy.stem import Stem, stem_of
from regard.inside.observe.observation import Observation
from regard.inside.observe.observe import observe


@dataclass(frozen=True)
class Anatomy:
    """The way of one word through a model."""

    stem: Stem
    layers: tuple[LayerAnatomy, ...]
    ending: Ending

    @property
    def layout(self) -> str:
        """Where the norms stand, in all layers alike."""
        return self.layers[0].layout

    @property
    def sublayers(self) -> list[Sublayer]:
        """Of all layers, in their order."""
        return [part for layer in self.layers for part in layer.sublayers]

    @property
    def difference(self) -> float:
        """The largest one of all sums, in units of the largest number of its row."""
        return max(layer.difference for layer in self.layers)


@dataclass
class LayerByLayer:
    """Reads each layer as soon as it has run."""

    row: int
    observation: Observation = field(default_factory=Observation)
    layers: list[LayerAnatomy] = field(default_factory=list)
    first: Tensor | None = None
    """(1, width): what the first layer was given."""
    last: Tensor | None = None
    """What the last one made."""
    seen: int = 0

    def add(self, run: ModuleRun, inside: list[ModuleRun]) -> None:
        seen = self.observation.layers[self.seen :]
        self.seen += len(seen)
        self.layers.append(anatomy_of(run, inside, seen, self.row))
        for layer in seen:
            layer.drop()
        assert run.given is not None
        assert run.made is not None
        self.first = run.given[[self.row]] if self.first is None else self.first
        self.last = run.made[[self.row]]


def dissect(
    model: nn.Module, run: Callable[[], object], ids: Sequence[int], row: int, part: str = ""
) -> Anatomy:
    """The way of the token at ``row`` of ``ids`` while ``run`` runs ``model`` over them, once.

    ``part``: of a model with an encoder and a decoder, which of them reads these tokens.
    """
    layers = layers_of(model, part)
    if not layers:
        raise ModelError(f"{type(model).__name__} has no list of layers with attention in them")
    read = LayerByLayer(row)
    with (
        observe(model, values=True) as read.observation,
        recorded(model, layers, len(ids), row, read.add) as recorder,
    ):
        run()
    if read.first is None or read.last is None:
        raise ModelError(f"none of the layers of {type(model).__name__} ran")
    before = [r for r in recorder.before if not part or "encoder" not in r.name.split(".")]
    return Anatomy(
        stem_of(model, before, ids[row], read.first),
        tuple(read.layers),
        ending_of(model, recorder.after, read.last),
    )
