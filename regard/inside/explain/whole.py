"""Whole: follow one word through a model, from its token to what the model puts out.

One pass is recorded, and read by the numbers it made (inside/anatomy). Then the word's vector is
computed once more from the parts that were found, added up from the word's vector on, and what
comes out is compared with a second pass of the model in which nothing is recorded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor

from regard.errors import DataError, ModelError, RegardError
from regard.inside.anatomy.anatomy import Anatomy, dissect
from regard.inside.anatomy.linear import numbers
from regard.inside.explain.parts import score_parts
from regard.inside.explain.waytrace import way_trace
from regard.inside.textmodel import TextModel
from regard.pieces.pieces import Pieces
from regard.pieces.text import shown_text
from regard.pieces.tokenizer import Tokenizer
from regard.pieces.whole import (
    BLANK,
    LABEL,
    NEXT,
    SENTENCE,
    Prediction,
    WholeProof,
    WholeWay,
)
from regard.trace import Array

ROTARY = "attention turns queries and keys by their positions (rotary)"
DISTANCE = "attention adds to its scores a number for the distance"
NOWHERE = "nothing is added: attention may know it in another way"
FAR = 1e-3
"""How far what is added up may be from the model's own numbers, in units of the largest."""
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
    "Classifier": LABEL,
}
"""How the names of networks end, and what they put out."""


def explain_whole(
    model: TextModel,
    text: str,
    word: str | None = None,
    *,
    temperature: float = 1.0,
    top: int = 10,
    parts: bool = False,
    said: str | None = None,
    target: str | None = None,
) -> WholeWay:
    """The way of ``word`` (or of the token whose vector the prediction is made from).

    ``parts``: also split the score of the predicted word, or of ``said``, over what wrote it.
    ``target``: what a translator's decoder reads; what it writes by itself if nothing is given.
    """
    reading, source, kind = model.read(text), None, kind_of(model)
    if model.has_both:
        reading, source = model.target(reading, target), reading
    elif target is not None:
        raise RegardError(
            f"--target is what a translator's decoder reads: {model.title} is no translator"
        )
    row = followed(model, kind, reading, word)
    anatomy, recorded = _dissected(model, reading, source, row)
    own = _run(model, reading, source)  # nothing recorded
    scores = scores_of(kind, own, row)
    whole = WholeWay(
        model.title,
        kind,
        (len(anatomy.layers), heads_of(anatomy), len(anatomy.stem.made)),
        reading,
        row,
        anatomy.layout,
        way_trace(anatomy, model.title, reading, row),
        proved(anatomy, row, (kind, recorded), own),
        places_of(anatomy, model.network),
        temperature=temperature,
        source=source,
    )
    if kind == SENTENCE:
        whole.sentence = sentence_vector(own)
    else:
        assert scores is not None
        whole.predictions = predictions(model, kind, scores, temperature, top)
        whole.of = len(scores)
    if source is not None:
        every = [scores_of(kind, own, i) for i in range(len(reading))]
        best = [predictions(model, kind, s, temperature, 1)[0] for s in every if s is not None]
        whole.steps = best
    if parts:
        _add_parts(whole, model, anatomy, scores, said)
    return whole


def _run(model: TextModel, reading: Pieces, source: Pieces | None) -> Any:
    return model.run(reading) if source is None else model.run(source, reading)


def _dissected(
    model: TextModel, reading: Pieces, source: Pieces | None, row: int
) -> tuple[Anatomy, Any]:
    """The way of a token, and what the pass gave in which it was recorded."""
    output: list[Any] = []
    part = "" if source is None else "decoder"

    def run() -> None:
        output.append(_run(model, reading, source))

    return dissect(model.network, run, reading.ids, row, part), output[0]


def _add_parts(
    whole: WholeWay, model: TextModel, anatomy: Anatomy, scores: Array | None, said: str | None
) -> None:
    """Who said it."""
    if scores is None or whole.kind == LABEL:
        raise ModelError(
            f"{whole.model} puts out the {whole.kind}: only the score of a word is split into parts"
        )
    word = whole.predictions[0]
    if said is not None:
        word = _prediction(model, whole.kind, scores, whole.temperature, word_id(model, said))
    whole.parts = score_parts(anatomy, _before_cap(anatomy, word, whole), whole.model)


def kind_of(model: TextModel) -> str:
    """What a model puts out."""
    name = type(model.network).__name__
    return next((kind for end, kind in ENDS.items() if name.endswith(end)), SENTENCE)


def followed(model: TextModel, kind: str, reading: Pieces, word: str | None) -> int:
    """The token to follow: the last of the word, or the one that the model predicts from."""
    if word is not None:
        return reading.word(word)[0].stop - 1
    if kind == BLANK:
        blank = blank_id(model)
        places = [i for i, token in enumerate(reading.ids) if token == blank]
        if not places:
            raise DataError(
                f"{model.title} fills a blank: put {_name_of(model, blank)} where a word is "
                "missing, or say with --word which word to follow"
            )
        return places[0]
    if kind == LABEL:
        return 0 if reading.special[0] else len(reading) - 1
    if kind == NEXT:
        return 0 if model.has_both else len(reading) - 1
    said = [i for i, silent in enumerate(reading.silent) if not silent]
    if not said:
        raise DataError(f"there is no word in the text that {model.title} can read")
    return said[-1]


def scores_of(kind: str, output: Any, row: int) -> Array | None:
    """The scores that ``row`` gives the words, or the text the labels."""
    if kind == SENTENCE:
        return None
    logits: Tensor = output if isinstance(output, Tensor) else output.logits
    return numbers(logits[0] if kind == LABEL else logits[0, row])


def sentence_vector(output: Any) -> Array:
    """The mean of the last vectors, of length 1, as sentence encoders have it."""
    mean = numbers(_last(output)).mean(0)
    found: Array = mean / np.linalg.norm(mean)
    return found


def _last(output: Any) -> Tensor:
    """(tokens, width): the vectors after the last layer."""
    found: Tensor = output.last if hasattr(output, "last") else output.last_hidden_state
    return found[0]


def similarity(model: TextModel, whole: WholeWay, text: str) -> None:
    """Compare with a second sentence."""
    if whole.sentence is None:
        raise RegardError(
            f"{whole.model} puts out the {whole.kind}: only of a model that puts out a vector "
            "can two sentences be compared"
        )
    other = sentence_vector(model.run(model.read(text)))
    whole.other = text, float(whole.sentence @ other)


def predictions(
    model: TextModel, kind: str, scores: Array, temperature: float, top: int
) -> list[Prediction]:
    """The most probable ones, the first the most."""
    best = np.argsort(-scores, kind="stable")[:top]
    return [_prediction(model, kind, scores, temperature, int(i)) for i in best]


def _prediction(
    model: TextModel, kind: str, scores: Array, temperature: float, place: int
) -> Prediction:
    raised = (scores - scores.max()) / temperature
    probability = float(np.exp(raised[place]) / np.exp(raised).sum())
    name = label_of(model, place) if kind == LABEL else _name_of(model, place)
    return Prediction(name, place, float(scores[place]), probability)


def _before_cap(anatomy: Anatomy, said: Prediction, whole: WholeWay) -> Prediction:
    """The score that the parts add up to: a model may change its scores afterwards."""
    scorer = anatomy.ending.scorer
    if scorer is None:
        return said
    direction, bias = scorer.direction(said.id)
    own = float(direction @ anatomy.ending.made + bias)
    if abs(own - said.score) <= 1e-3 * max(1.0, abs(own)):
        return said
    whole.notes.append(
        f"The model changes its scores once more (a scale or a soft cap): {own:.4f} becomes "
        f"{said.score:.4f}. The parts are those of {own:.4f}."
    )
    return Prediction(said.word, said.id, own, said.probability)


def proved(anatomy: Anatomy, row: int, recorded: tuple[str, Any], own: Any) -> WholeProof:
    """What the parts add up to, from the word's vector on, compared with the model's own pass."""
    kind, output = recorded
    x = anatomy.stem.total
    for step in anatomy.stem.maps:
        x = step(x)
    for part in anatomy.sublayers:
        x = x + part.adds
        x = x if part.norm_after is None else part.norm_after(x)
    for step in anatomy.ending.maps:
        x = step(x)
    what, made, expected = "numbers of the last vector", x, anatomy.ending.made
    scores = scores_of(kind, own, row)
    if scores is None:
        expected = numbers(_last(own)[row])
    elif anatomy.ending.scorer is not None:
        found = anatomy.ending.scorer(x)
        if np.abs(found - scores).max() <= FAR * np.abs(scores).max():
            what, made, expected = "scores", found, scores
    apart = float(np.abs(made - expected).max())
    if apart > FAR * float(np.abs(expected).max()):
        raise ModelError(
            f"the parts that were found do not add up to what the model computes: {apart:.1e} "
            "apart; this kind of model is not known"
        )
    if scores is not None:  # where the way to the scores is not known, both passes must give them
        again = scores_of(kind, output, row)
        assert again is not None
        apart = max(apart, float(np.abs(again - scores).max()))
    return WholeProof(len(anatomy.sublayers), anatomy.difference, what, len(expected), apart)


def heads_of(anatomy: Anatomy) -> int:
    """Heads of a layer, 0 if they are not known."""
    found = [len(part.heads.weights) for part in anatomy.sublayers if part.heads is not None]
    return found[0] if found else 0


def places_of(anatomy: Anatomy, network: Any) -> str:
    """How the model knows where a word stands, if not by what is added to its vector."""
    if len(anatomy.stem.parts) > 1:
        return ""
    if any(part.heads is not None and part.heads.bound for part in anatomy.sublayers):
        return DISTANCE
    rotary = any("rotary" in type(module).__name__.lower() for module in network.modules())
    return ROTARY if rotary else NOWHERE


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


def _name_of(model: TextModel, token: int) -> str:
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
