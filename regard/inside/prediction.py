"""Prediction: what a model puts out of a text, by its kind: the next word, the word in a blank, a
label, or the vector of the sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from regard.errors import DataError, ModelError, RegardError
from regard.inside.anatomy.linear import numbers
from regard.inside.textmodel import TextModel
from regard.pieces.pieces import Pieces
from regard.pieces.text import shown_text
from regard.pieces.tokenizer import Tokenizer
from regard.pieces.whole import BLANK, LABEL, NEXT, SENTENCE, Prediction
from regard.trace import Array

ENDS = {
    "ForMaskedLM": BLANK,
    "ForPreTraining": BLANK,
    "ForSequenceClassification": LABEL,
    "ForCausalLM": NEXT,
    "LMHeadModel": NEXT,
    "LanguageModel": NEXT,
    "ForConditionalGeneration": NEXT,
    "MTModel": NEXT,
    "Transformer": NEXT,
    "Bahdanau": NEXT,
    "LSTMNTranslator": NEXT,
    "Classifier": LABEL,
}
"""How the names of networks end, and what they put out."""


def kind_of(model: TextModel) -> str:
    """What a model puts out."""
    name = type(model.network).__name__
    return next((kind for end, kind in ENDS.items() if name.endswith(end)), SENTENCE)


def row_of(model: TextModel, kind: str, reading: Pieces) -> int:
    """The token whose vector a word or a label is predicted from."""
    if kind == BLANK:
        blank = blank_id(model)
        places = [i for i, token in enumerate(reading.ids) if token == blank]
        if not places:
            raise DataError(
                f"{model.title} fills a blank: put {token_name(model, blank)} where a word is "
                "missing"
            )
        return places[0]
    if kind == LABEL:
        return 0 if reading.special[0] else len(reading) - 1
    return 0 if model.has_both else len(reading) - 1


def scores_of(kind: str, output: Any, row: int) -> Array | None:
    """The scores that ``row`` gives the words, or the text the labels."""
    if kind == SENTENCE:
        return None
    logits: Tensor = output if isinstance(output, Tensor) else output.logits
    return numbers(logits[0] if kind == LABEL else logits[0, row])


def sentence_vector(output: Any) -> Array:
    """The mean of the last vectors, of length 1, as sentence encoders have it."""
    mean = numbers(last_vectors(output)).mean(0)
    found: Array = mean / np.linalg.norm(mean)
    return found


def last_vectors(output: Any) -> Tensor:
    """(tokens, width): the vectors after the last layer."""
    found: Tensor = output.last if hasattr(output, "last") else output.last_hidden_state
    return found[0]


def predictions(
    model: TextModel, kind: str, scores: Array, temperature: float, top: int
) -> list[Prediction]:
    """The most probable ones, the first the most."""
    best = np.argsort(-scores, kind="stable")[:top]
    return [prediction(model, kind, scores, temperature, int(i)) for i in best]


def prediction(
    model: TextModel, kind: str, scores: Array, temperature: float, place: int
) -> Prediction:
    """One of them, by its place."""
    raised = (scores - scores.max()) / temperature
    probability = float(np.exp(raised[place]) / np.exp(raised).sum())
    name = label_of(model, place) if kind == LABEL else token_name(model, place)
    return Prediction(name, place, float(scores[place]), probability)


def blank_id(model: TextModel) -> int:
    """The token that stands for a missing word."""
    get = getattr(model.tokenizer, "token_to_id", None)
    names = ("[MASK]", "<mask>")
    found = (get(name) for name in names) if get else [model.tokenizer.mask_token_id]
    place = next((i for i in found if i is not None), None)
    if place is None:
        raise ModelError(f"the tokenizer of {model.title} has no token for a blank")
    return int(place)


def word_id(model: TextModel, word: str) -> int:
    """The token that a text begins with, as the model would write it after another word."""
    known = model.tokenizer
    if isinstance(known, Tokenizer):
        ids = list(known.encode(word))
    elif hasattr(known, "get_added_tokens_decoder"):
        spaced = known.encode(f" {word}", add_special_tokens=False).ids
        ids = list(spaced)
    else:
        ids = list(known(word, add_special_tokens=False)["input_ids"])
    if not ids:
        raise RegardError(f"{word!r} is no word for {model.title}")
    return int(ids[0])


def label_of(model: TextModel, place: int) -> str:
    """The name of a class."""
    if model.config is None:
        network: Any = model.network
        return str(network.config.labels[place])
    return str((model.config.id2label or {}).get(place, place))


def token_name(model: TextModel, token: int) -> str:
    """A token as it would be written."""
    known = model.tokenizer
    if isinstance(known, Tokenizer):
        return known.pieces([token])[0]
    if hasattr(known, "get_added_tokens_decoder"):
        if type(known.model).__name__ == "WordPiece":
            return str(known.id_to_token(token))
        written: str = known.decode([token], skip_special_tokens=False)
    else:
        written = known.decode([token])
    return written if written.strip() else shown_text(written)
