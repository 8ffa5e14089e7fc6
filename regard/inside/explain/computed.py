"""Computed: one head of a BERT model as a worked example, computed by regard itself, and proved.

One pass in float64 with every step recorded gives everything that is shown. The proof is the pass
that the model always makes, in float32, with the fused kernel and nothing recorded. What can be
known to be wrong without the weights (the text, a word, a layer) is said before torch is loaded.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from regard.errors import DataError
from regard.inside.explain.explained import Explained, Proof, check_place
from regard.inside.explain.link import choose
from regard.inside.find import find
from regard.inside.pinned import PINNED
from regard.models.bert.config import is_bert, read_config
from regard.pieces.pieces import Pieces
from regard.pieces.text import check_length, load_tokenizer, read_text
from regard.pieces.unknown import Unknown
from regard.record import record
from regard.trace import Trace

if TYPE_CHECKING:
    from torch import Tensor

    from regard.models.bert.encoder import BertEncoder

EMBEDDING = ("word_vectors", "position_vectors", "type_vectors", "embedding")


def computes(name: str) -> bool:
    """Whether the model of that name is one that regard's own encoder computes: no pinned GGUF
    file (which is not fetched to find that out), and a BERT encoder by its config.json."""
    pinned = PINNED.get(name)
    if pinned is not None and any(file.name.endswith(".gguf") for file in pinned.files):
        return False
    found = find(name)
    return found.gguf is None and is_bert(found.folder)


class ComputedModel:
    """A BERT model on this machine, ready to be explained."""

    def __init__(self, name: str) -> None:
        """``name``: an alias, a folder, or a name on the hub."""
        found = find(name)
        self.name = name if name in PINNED else found.folder.name
        self.folder = found.folder
        self.config = read_config(found.folder)
        self.tokenizer = load_tokenizer(found.folder)
        self.shape = self.config.layers, self.config.heads

    @cached_property
    def single(self) -> BertEncoder:
        """The model as it runs."""
        from regard.models.bert.file import load_bert

        return load_bert(self.folder).requires_grad_(False)

    @cached_property
    def exact(self) -> BertEncoder:
        """The model as it is explained, in float64.

        The vectors of all words, half of MiniLM, are shared: they are looked up, not computed with.
        """
        from torch.nn import Parameter

        words = self.single.embedding.words.weight
        copies = {
            id(p): p if p is words else Parameter(p.double(), requires_grad=False)
            for p in self.single.parameters()
        }
        return deepcopy(self.single, copies)

    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> Explained:
        """The steps of one head for ``word``; what is not given is chosen by its strongest link."""
        check_place(self.name, self.shape, layer, head)
        reading = self.read(text)
        place = None if word is None else reading.word(word)[0]
        target = None if to is None else reading.word(to)[0]
        whole = self._recorded(reading)
        choice = choose(
            np.stack([step.value for step in whole.all("weights")]),
            reading,
            word=place,
            to=target,
            layer=layer,
            head=head,
        )
        best = choice.best
        title = f"{self.name} layer {best.layer} head {best.head}"
        inside = f"layer {best.layer}"
        steps = [s for s in whole if s.name in EMBEDDING or inside in s.scope.split("/")]
        trace = Trace(steps, mechanism=title, tokens=reading.labels)
        proof = proved(trace, forward_pass(self.single, reading.ids, best.layer))
        given = layer is not None and head is not None
        return Explained(
            *(self.name, self.shape, reading, best.layer, best.head, best.word, best.to),
            *(None if given else choice, whole, trace),
            trace.value("weights")[best.head],
            trace.value("scaled")[best.head],
            proof,
        )

    def read(self, text: str) -> Pieces:
        """``text`` as the model reads it; refused if it can read nothing of it."""
        reading = read_text(self.tokenizer, text)
        check_length(reading, self.name, self.config.positions)
        if all(reading.special):
            raise DataError(f"there is no word in the text {text[:40]!r}")
        if all(reading.silent):
            raise DataError(f"nothing can be explained: {Unknown(reading).note(self.name)}")
        return reading

    def _recorded(self, reading: Pieces) -> Trace:
        import torch

        with record(self.name, reading.labels) as trace:
            self.exact(torch.tensor(reading.ids))
        return trace


def proved(trace: Trace, own: dict[str, Tensor]) -> Proof:
    """Compare the steps of ``trace`` with what the model computed by itself."""
    apart = [float(np.abs(trace.value(name) - value.numpy()).max()) for name, value in own.items()]
    return Proof(sum(value.numel() for value in own.values()), max(apart))


def forward_pass(model: BertEncoder, ids: list[int], layer: int) -> dict[str, Tensor]:
    """What the model computes by itself, in one layer: fused attention, nothing recorded.

    Queries and keys are those that :func:`regard.observe` sees, the weights those of the maps it
    makes of them: code that the explanation does not use.
    """
    import torch

    from regard.inside.observe.observe import observe

    outputs: list[Tensor] = []
    hook = model.attention(layer).register_forward_hook(
        lambda *call: outputs.append(call[-1].context[0])
    )
    try:
        with observe(model, layers=[layer]) as observation:
            encoded = model(torch.tensor([ids]))
    finally:
        hook.remove()
    seen = observation.layer(layer)
    return {
        "queries": seen.query[0],
        "keys": seen.key[0],
        "weights": torch.stack([seen.map(head).dense() for head in range(seen.heads)]),
        "output": outputs[0],
        "hidden": encoded.hidden[layer + 1][0],
    }
