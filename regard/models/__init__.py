"""Models built from the bricks.

translators/            designs of translation, beam search, a translation with its alignment
design.py, stack.py     which network reads the words of a language model or a classifier
language.py             the probability of each next word
classifier.py           the label of a sentence
reading.py              what these did while they read a sentence
bert/                   the encoder alone, with the weights of published models
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.models.translators.base import (
        MODELS,
        SIZES,
        Loss,
        Translator,
        TranslatorConfig,
        build,
        sized,
    )
    from regard.models.translators.beam import Hypothesis, translate_batch

__all__ = [
    "MODELS",
    "SIZES",
    "Hypothesis",
    "Loss",
    "Translator",
    "TranslatorConfig",
    "build",
    "sized",
    "translate_batch",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the shape of a model is read without torch."""
    if name not in __all__:
        raise AttributeError(f"module 'regard.models' has no attribute {name!r}")
    home = "beam" if name in ("Hypothesis", "translate_batch") else "base"
    return getattr(import_module(f"regard.models.translators.{home}"), name)
