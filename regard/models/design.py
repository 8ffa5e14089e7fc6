"""Design: which network reads the pieces of a model, and its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from regard.errors import nearest
from regard.models.config import ModelConfig, check_size, share, whole

DESIGNS = ("simple-rnn", "simple-rnn+attention", "lstm", "lstmn", "transformer")
"""In the order of their history, each recurrent one with its twin that attends."""
ATTENTIVE = ("simple-rnn+attention", "lstmn")
"""Recurrent designs that attend to their own past."""
STILL = ("words", "alone")
"""Designs without a network over the pieces: every vector stays as it is."""


@dataclass(frozen=True)
class DesignConfig(ModelConfig):
    """The shape of a network that reads vectors. What a design does not have stays 0 or empty."""

    model: str
    """One of :data:`DESIGNS`."""
    width: int
    """Of a vector that is read; the Transformer's d."""
    hidden: int = 0
    """Recurrent designs: the width of the state; conv: the numbers of a piece in each layer."""
    layers: int = 0
    """How many layers read one another."""
    heads: int = 0
    """Transformer: attention heads of a layer."""
    feedforward: int = 0
    """Transformer: the width inside the feed-forward network."""
    norm: str = ""
    """Transformer: "post" (after each residual sum, as in the paper) or "pre"."""
    form: str = ""
    """simple-rnn+attention: what a state is made from, "xc" or "xch"."""
    score: str = ""
    """simple-rnn+attention: how a pair is scored, "additive" or "dot"."""
    window: int = 0
    """simple-rnn+attention, lstmn: how many of the last words can be attended to; 0 = all."""
    recency: float = 0.0
    """lstmn: what is learned and added to the newest word's score begins with this; 0 = none."""
    dropout: float = 0.0
    """The share of numbers dropped while training."""

    designs: ClassVar[tuple[str, ...]] = DESIGNS

    def problems(self) -> Iterator[str]:
        if self.model not in self.designs:
            hint = nearest(str(self.model), self.designs)
            yield f"model must be one of {', '.join(self.designs)}, got {self.model!r}{hint}"
        yield from whole("width", self.width, 1)
        yield from share("dropout", self.dropout)
        if self.model in self.designs:
            yield from self._own()

    def _own(self) -> Iterator[str]:
        """What is wrong with the settings that only some designs have."""
        own: tuple[str, ...] = ("hidden", "layers")
        if self.model == "transformer":
            own = ("layers", "heads", "feedforward")
        elif self.model in STILL:
            own = ()
        for name in ("hidden", "layers", "heads", "feedforward"):
            value = getattr(self, name)
            if name in own:
                yield from whole(name, value, 1)
            elif value != 0:
                yield f"{self.model} has no {name}: leave it out, got {value!r}"
        choices = {
            "norm": (("pre", "post"), ("transformer",)),
            "form": (("xc", "xch"), ("simple-rnn+attention",)),
            "score": (("additive", "dot"), ("simple-rnn+attention",)),
        }
        for name, (known, models) in choices.items():
            value = getattr(self, name)
            if self.model in models and value not in known:
                yield f'{name} must be "{known[0]}" or "{known[1]}", got {value!r}'
            elif self.model not in models and value:
                yield f"{self.model} has no {name}: leave it out, got {value!r}"
        yield from whole("window", self.window, 0)
        if self.window and self.model not in ATTENTIVE:
            yield f"{self.model} has no window: leave it out, got {self.window!r}"
        if isinstance(self.recency, bool) or not isinstance(self.recency, int | float):
            yield f"recency must be a number, got {self.recency!r}"
        elif self.recency and self.model != "lstmn":
            yield f"{self.model} has no recency: leave it out, got {self.recency!r}"
        numbers_fit = isinstance(self.width, int) and not list(whole("heads", self.heads, 1))
        if self.model == "transformer" and numbers_fit and self.width % self.heads:
            yield f"heads must divide width, got {self.heads} and {self.width}"

    @property
    def features(self) -> int:
        """The width of what the network gives for each vector."""
        return self.hidden or self.width

    @property
    def across(self) -> int:
        """How many pieces stand in a row, if they form a grid; 0: all stand in one."""
        return 0


def shape(model: str, size: str, designs: tuple[str, ...] = DESIGNS) -> dict[str, Any]:
    """The settings of a design in a named size, to be changed one by one.

    With the output that a language model has, designs of size tiny and of size small have equally
    many parameters beside the words; base has the same 300 units in every design.
    """
    check_size(model, designs, size)
    own: dict[str, Any] = {"width": WIDTHS[size], **_SHAPES[model][size]}
    if model == "simple-rnn+attention":
        own |= {"form": "xc", "score": "additive"}
    if model == "transformer":
        own |= {"norm": "pre"}
    return own if model in STILL else {"layers": 1} | own


def widest(parameters: Callable[[int], int], equal: int) -> int:
    """The most hidden units with which a design has at most ``equal`` parameters."""
    least, most = 1, 4096
    while least < most:
        middle = (least + most + 1) // 2
        if parameters(middle) <= equal:
            least = middle
        else:
            most = middle - 1
    return least


WIDTHS = {"tiny": 64, "small": 112, "base": 150}

_SHAPES: dict[str, dict[str, dict[str, int]]] = {
    "words": {"tiny": {}, "small": {}, "base": {}},
    "alone": {"tiny": {}, "small": {}, "base": {}},
    "conv": {size: {"layers": 2} for size in WIDTHS},
    "simple-rnn": {"tiny": {"hidden": 247}, "small": {"hidden": 491}, "base": {"hidden": 300}},
    "simple-rnn+attention": {
        "tiny": {"hidden": 155},
        "small": {"hidden": 306},
        "base": {"hidden": 300},
    },
    "lstm": {"tiny": {"hidden": 117}, "small": {"hidden": 234}, "base": {"hidden": 300}},
    "lstmn": {"tiny": {"hidden": 96}, "small": {"hidden": 192}, "base": {"hidden": 300}},
    "transformer": {
        "tiny": {"layers": 2, "heads": 4, "feedforward": 228},
        "small": {"layers": 3, "heads": 4, "feedforward": 291},
        "base": {"width": 300, "layers": 4, "heads": 6, "feedforward": 600},
    },
}
