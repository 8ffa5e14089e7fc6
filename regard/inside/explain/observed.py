"""Observed: one head of any model that can be observed, as a worked example.

The model runs once as it always runs; what its attention was given (queries and keys, with their
positions in them, values, mask, bias) is observed, and the steps are computed from it in float64.
The proof is what the model's own kernel mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor, nn

from regard.errors import DataError, ModelError, RegardError
from regard.inside.anatomy.linear import numbers
from regard.inside.explain.explained import Explained, Proof, check_place, place_of
from regard.inside.explain.headtrace import Given, head_trace, head_weights
from regard.inside.explain.link import choose
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.observe.places import is_of
from regard.inside.textmodel import PARTS, TextModel
from regard.pieces.pieces import Pieces
from regard.trace import Trace

MOST = 1024
"""Tokens of a text, at most: of longer ones regard look tells what each head does."""
OWN = "the model's own kernel mixed the same values with the same weights"


class ObservedModel:
    """A model of any kind that ``look`` takes, ready to be explained."""

    def __init__(self, model: TextModel, part: str = "", target: str | None = None) -> None:
        """``part`` says which attention of a model with an encoder and a decoder; ``target`` is
        what its decoder reads, else what it writes by itself."""
        if model.has_both != bool(part):
            raise RegardError(
                f"part must be one of {', '.join(PARTS)} for a model with an encoder and a "
                f"decoder, and empty for any other; {model.title} with {part!r}"
            )
        self.model, self.name, self.part, self.target = model, model.title, part, target

    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> Explained:
        """The steps of one head for ``word``; what is not given is chosen by its strongest link."""
        texts = self._read(text)
        queries = texts.queries
        source = texts.read if self.part == "cross" else None
        place = None if word is None else queries.word(word)[0]
        target = None if to is None else (source or queries).word(to)[0]
        layers, given = self._observed(texts)
        shape = len(layers), layers[0].heads
        check_place(self.name, shape, layer, head)
        weights = np.stack([head_weights(found.item()) for found in layers])
        choice = choose(weights, queries, source, word=place, to=target, layer=layer, head=head)
        best = choice.best
        chosen = layers[best.layer]
        trace = head_trace(chosen, self._given(queries, source, given.get(chosen.name, [])))
        trace.mechanism = f"{place_of(self.name, self.part)} layer {best.layer} head {best.head}"
        known = layer is not None and head is not None
        return Explained(
            *(self.name, shape, queries, best.layer, best.head),
            *(best.word, best.to, None if known else choice, None, trace),
            trace.value("weights")[best.head],
            trace.value("scaled")[best.head],
            _proof(chosen.item(), trace),
            self.part,
            source=None if texts.target is None else texts.read,
        )

    def _read(self, text: str) -> Texts:
        read = self.model.read(text, MOST)
        decodes = self.part in ("decoder", "cross")
        target = self.model.target(read, self.target, MOST) if decodes else None
        texts = Texts(read, target)
        if all(read.silent) or all(texts.queries.silent):
            raise DataError(f"there is no word in the text that {self.name} can read")
        return texts

    def _observed(self, texts: Texts) -> tuple[list[ObservedLayer], dict[str, list[Tensor]]]:
        """The layers of the attention that is asked for, and what each was given."""
        with (
            given_to(self.model.network) as given,
            observe(self.model.network, values=True) as observation,
        ):
            self.model.run(texts.read, texts.target)
        layers = [found for found in observation.layers if is_of(self.part, found.kind, found.part)]
        bare = next((found for found in layers if found.item().value is None), None)
        if not layers or bare is not None:
            raise ModelError(
                f"{self.name} shows the weights of its attention but not its queries, keys and "
                "values: 'regard look' shows what there is to see"
            )
        if len({found.heads for found in layers}) > 1:
            raise ModelError(f"the layers of {self.name} differ in their number of heads")
        return layers, given

    def _given(self, queries: Pieces, source: Pieces | None, seen: list[Tensor]) -> Given:
        """What the layer that ``seen`` was given to made its steps from."""
        first = seen[0] if seen else None
        if source is not None:
            memory = seen[1] if len(seen) > 1 else None
            return Given(queries.labels, source.labels, first, memory)
        modules = self.model.network.modules()
        turned = any("rotary" in type(module).__name__.lower() for module in modules)
        return Given(queries.labels, input=first, turned=turned)


@dataclass(frozen=True)
class Texts:
    """What a model reads to be explained."""

    read: Pieces
    target: Pieces | None
    """What its decoder reads, if that runs."""

    @property
    def queries(self) -> Pieces:
        """The text whose words attend."""
        return self.read if self.target is None else self.target


@contextmanager
def given_to(network: nn.Module) -> Iterator[dict[str, list[Tensor]]]:
    """(tokens, width): what each module of attention was given, by its name, in its order: what it
    reads, then what else it attends to; the last time it ran."""
    found: dict[str, list[Tensor]] = {}

    def hear(name: str) -> Any:
        def before(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
            given = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
            read = [x.detach()[0] for x in given if x.is_floating_point() and x.dim() == 3]
            if read:
                found[name] = read

        return before

    hooks = [
        module.register_forward_pre_hook(hear(name), with_kwargs=True)
        for name, module in network.named_modules()
        if "att" in type(module).__name__.lower()
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _proof(item: Item, trace: Trace) -> Proof:
    assert item.context is not None
    own = numbers(item.context)
    return Proof(own.size, float(np.abs(own - trace.value("context")).max()), OWN)
