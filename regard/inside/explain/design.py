"""Which steps of a recurrent design are explained, and why those of others are not."""

from __future__ import annotations

from typing import Any

from regard.errors import ModelError, RegardError
from regard.inside.explain.reader import ReaderModel
from regard.inside.explain.recurrent import RecurrentModel
from regard.inside.explain.writer import WriterModel
from regard.inside.textmodel import TextModel
from regard.models.design import ATTENTIVE
from regard.models.translators.bahdanau import Bahdanau
from regard.models.translators.lstmn import LSTMNTranslator

WITHOUT = {
    "encoder-decoder": "its decoder has one vector for the whole source",
    "word-by-word": "it says a word for each word that it reads, and looks at no other",
    "words": "it takes the mean of its words' vectors",
}
"""Designs without attention between words, and what they do."""


def recurrent_model(model: TextModel, part: str, target: str | None = None) -> RecurrentModel:
    """The model, ready to be explained; ``part`` is empty unless it is a translator."""
    network: Any = model.network
    if not model.has_both and network.config.model in ATTENTIVE:
        return ReaderModel(model)
    if not isinstance(network, Bahdanau | LSTMNTranslator):
        why = WITHOUT.get(network.config.model, "all that it knows of the text is its last state")
        raise ModelError(f"{model.title} has no attention between words to explain: {why}")
    if part == "cross":
        return WriterModel(model, target)
    if part == "encoder" and isinstance(network, LSTMNTranslator):
        return ReaderModel(model, part)
    why = "--part cross shows a step of its decoder with both its attentions"
    if isinstance(network, Bahdanau):
        why = "its decoder alone attends, and to the source: --part cross"
    raise RegardError(f"--part {part} is not explained of {model.title}: {why}")
