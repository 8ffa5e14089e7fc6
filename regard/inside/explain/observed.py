"""Observed: one head of any model that can be observed, as a worked example.

The model runs once as it always runs; what its attention was given (queries and keys, with their
positions in them, values, mask, bias) is observed, and the steps are computed from it in float64.
The proof is what the model's own kernel mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from torch import Tensor, nn

from regard.errors import DataError, ModelError
from regard.inside.anatomy.linear import numbers
from regard.inside.explain.explained import Explained, Proof, check_place
from regard.inside.explain.headtrace import head_trace, head_weights
from regard.inside.explain.link import choose
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
from regard.pieces.pieces import Pieces
from regard.trace import Trace

MOST = 1024
"""Tokens of a text, at most: of longer ones regard look tells what each head does."""
OWN = "the model's own kernel mixed the same values with the same weights"


class ObservedModel:
    """A model of any kind that ``look`` takes, ready to be explained."""

    def __init__(self, model: TextModel) -> None:
        self.model, self.name = model, model.title

    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> Explained:
        """The steps of one head for ``word``; what is not given is chosen by its strongest link."""
        reading = self.model.read(text, MOST)
        if all(reading.silent):
            raise DataError(f"there is no word in the text that {self.name} can read")
        place = None if word is None else reading.word(word)[0]
        target = None if to is None else reading.word(to)[0]
        layers, given = self._observed(reading)
        heads = layers[0].heads
        check_place(self.name, (len(layers), heads), layer, head)
        weights = np.stack([head_weights(found.item()) for found in layers])
        choice = choose(weights, reading, word=place, to=target, layer=layer, head=head)
        best = choice.best
        chosen = layers[best.layer]
        trace = head_trace(chosen, given.get(chosen.name), self._turned(), reading.labels)
        trace.mechanism = f"{self.name} layer {best.layer} head {best.head}"
        known = layer is not None and head is not None
        return Explained(
            *(self.name, (len(layers), heads), reading, best.layer, best.head),
            *(best.word, best.to, None if known else choice, None, trace),
            _proof(chosen.item(), trace),
        )

    def _observed(self, reading: Pieces) -> tuple[list[ObservedLayer], dict[str, Tensor]]:
        """The layers of self-attention, of an encoder if there is one, and what each was given."""
        with (
            given_to(self.model.network) as given,
            observe(self.model.network, values=True) as observation,
        ):
            self.model.run(reading)
        layers = [layer for layer in observation.layers if layer.kind == "self"]
        bare = next((layer for layer in layers if layer.item().value is None), None)
        if not layers or bare is not None:
            raise ModelError(
                f"{self.name} shows the weights of its attention but not its queries, keys and "
                "values: 'regard look' shows what there is to see"
            )
        if len({layer.heads for layer in layers}) > 1:
            raise ModelError(f"the layers of {self.name} differ in their number of heads")
        return layers, given

    def _turned(self) -> bool:
        """Whether positions turn queries and keys."""
        modules = self.model.network.modules()
        return any("rotary" in type(module).__name__.lower() for module in modules)


@contextmanager
def given_to(network: nn.Module) -> Iterator[dict[str, Tensor]]:
    """(tokens, width): what each module inside was given, by its name; the last time it ran."""
    found: dict[str, Tensor] = {}

    def hear(name: str) -> Any:
        def before(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
            for x in (*args, kwargs.get("hidden_states")):
                if isinstance(x, Tensor) and x.is_floating_point() and x.dim() == 3:
                    found[name] = x.detach()[0]
                    return

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
