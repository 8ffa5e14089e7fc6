"""Sizes: named shapes of each design. ``base`` is the original paper's (LSTMN: Bahdanau's)."""

from __future__ import annotations

from typing import Any

from regard.errors import ConfigError, nearest
from regard.models.config import MODELS, TranslatorConfig

SIZES = ("tiny", "small", "base")
"""With 4,000 tokens, tiny is about 0.65 and small about 3 million parameters in every design."""

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


def sized(model: str, size: str, vocabulary: int, **changes: Any) -> TranslatorConfig:
    """The config of design ``model`` in a named ``size``; ``changes`` replace single settings."""
    for what, name, known in (("model", model, MODELS), ("size", size, SIZES)):
        if name not in known:
            raise ConfigError(
                f"{what} must be one of {', '.join(known)}, got {name!r}{nearest(name, known)}"
            )
    shape = dict(_SHAPES[model][size], dropout=0.0 if size == "base" else 0.1)
    if model == "transformer":
        shape |= {"norm": "post" if size == "base" else "pre", "dropout": 0.1}
    return TranslatorConfig(model=model, vocabulary=vocabulary, **(shape | changes))
