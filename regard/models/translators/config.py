"""Config of a translator: its shape, and the named shapes of each design.

With 4,000 tokens, tiny is about 0.65 and small about 3 million parameters in every design; base is
the original paper's (LSTMN: Bahdanau's).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from regard.errors import nearest
from regard.models.config import TokenConfig, check_size, share, truth, whole

MODELS = (
    "word-by-word",
    "encoder-decoder",
    "bahdanau",
    "lstmn-shallow",
    "lstmn-deep",
    "transformer",
)
"""The designs, in the order of their history."""

POINTING = ("bahdanau", "transformer")
"""The designs that can have a pointer."""

RECURRENT = ("hidden", "readout")
TRANSFORMER = ("layers", "heads", "feedforward")

_SHAPES: dict[str, dict[str, dict[str, Any]]] = {
    "word-by-word": {
        "tiny": {"width": 96, "hidden": 224, "readout": 96, "tied": True},
        "small": {"width": 208, "hidden": 672, "readout": 208, "tied": True},
        "base": {"width": 620, "hidden": 1000, "readout": 500},
    },
    "encoder-decoder": {
        "tiny": {"width": 96, "hidden": 112, "readout": 96, "tied": True},
        "small": {"width": 208, "hidden": 344, "readout": 208, "tied": True},
        "base": {"width": 620, "hidden": 1000, "readout": 500},
    },
    "bahdanau": {
        "tiny": {"width": 96, "hidden": 80, "readout": 96, "tied": True},
        "small": {"width": 208, "hidden": 256, "readout": 208, "tied": True},
        "base": {"width": 620, "hidden": 1000, "readout": 500},
    },
    "lstmn-shallow": {
        "tiny": {"width": 96, "hidden": 84, "readout": 96, "tied": True},
        "small": {"width": 208, "hidden": 264, "readout": 208, "tied": True},
        "base": {"width": 620, "hidden": 1000, "readout": 500},
    },
    "lstmn-deep": {
        "tiny": {"width": 96, "hidden": 84, "readout": 96, "tied": True},
        "small": {"width": 208, "hidden": 276, "readout": 208, "tied": True},
        "base": {"width": 620, "hidden": 1000, "readout": 500},
    },
    "transformer": {
        "tiny": {"width": 80, "layers": 2, "heads": 4, "feedforward": 256, "tied": True},
        "small": {"width": 192, "layers": 3, "heads": 4, "feedforward": 384, "tied": True},
        "base": {"width": 512, "layers": 6, "heads": 8, "feedforward": 2048, "tied": True},
    },
}


@dataclass(frozen=True)
class TranslatorConfig(TokenConfig):
    """The shape of a translator. A number that a design does not have stays 0."""

    what = "a translator"

    model: str
    """One of :data:`MODELS`."""
    width: int
    """Of a token's vector; the Transformer's d."""
    hidden: int = 0
    """Recurrent designs: the width of the state, and of the alignment network."""
    readout: int = 0
    """Recurrent designs: how many maxout units feed the vocabulary."""
    layers: int = 0
    """Transformer: layers of the encoder, and as many of the decoder."""
    heads: int = 0
    """Transformer: attention heads of a layer."""
    feedforward: int = 0
    """Transformer: the width inside the feed-forward network."""
    norm: str = ""
    """Transformer: "post" (after each residual sum, as in the paper) or "pre"."""
    activation: str = ""
    """Transformer: what the feed-forward network bends by, "relu" (also if empty) or "silu"."""
    dropout: float = 0.0
    """The share of numbers dropped while training."""
    tied: bool = False
    """Source, target and output words share one matrix (recurrent: readout = width)."""
    pointer: bool = False
    """Bahdanau and Transformer: words can be copied from the source (See et al. 2017)."""

    def problems(self) -> Iterator[str]:
        if self.model not in MODELS:
            hint = nearest(str(self.model), MODELS)
            yield f"model must be one of {', '.join(MODELS)}, got {self.model!r}{hint}"
        yield from whole("vocabulary", self.vocabulary, 5)
        yield from whole("width", self.width, 1)
        yield from share("dropout", self.dropout)
        yield from truth("tied", self.tied)
        yield from truth("pointer", self.pointer)
        if self.pointer is True and self.model in MODELS and self.model not in POINTING:
            yield (
                f"a pointer copies what the decoder looks at, and learns where to look: "
                f"{' and '.join(POINTING)} have one, {self.model} has none"
            )
        if self.model in MODELS:
            yield from self._own()

    def _own(self) -> Iterator[str]:
        """What is wrong with the numbers that only some designs have."""
        is_transformer = self.model == "transformer"
        own, foreign = (TRANSFORMER, RECURRENT) if is_transformer else (RECURRENT, TRANSFORMER)
        wrong = [problem for name in own for problem in whole(name, getattr(self, name), 1)]
        yield from wrong
        for name in foreign:
            if getattr(self, name) != 0:
                yield f"{self.model} has no {name}: leave it out, got {getattr(self, name)!r}"
        if not is_transformer and self.norm:
            yield f"{self.model} has no norm: leave it out, got {self.norm!r}"
        if not is_transformer and self.activation:
            yield f"{self.model} has no activation: leave it out, got {self.activation!r}"
        if is_transformer and self.activation not in ("", "relu", "silu"):
            yield f'activation must be "relu" or "silu", got {self.activation!r}'
        if is_transformer and self.norm not in ("pre", "post"):
            yield f'norm must be "pre" or "post", got {self.norm!r}'
        if wrong or not isinstance(self.width, int):
            return
        if is_transformer and self.width % self.heads:
            yield f"heads must divide width, got {self.heads} and {self.width}"
        if not is_transformer and self.tied is True and self.readout != self.width:
            yield (
                "tied words need readout = width (the output matrix is the words' own), "
                f"got {self.readout} and {self.width}"
            )


def sized(model: str, size: str, vocabulary: int, **changes: Any) -> TranslatorConfig:
    """The config of design ``model`` in a named ``size``; ``changes`` replace single settings."""
    check_size(model, MODELS, size)
    shape = dict(_SHAPES[model][size], dropout=0.0 if size == "base" else 0.1)
    if model == "transformer":
        shape |= {"norm": "post" if size == "base" else "pre", "dropout": 0.1}
    return TranslatorConfig(model=model, vocabulary=vocabulary, **(shape | changes))
