"""Loading: the trial that the name of a model and a text mean."""

from __future__ import annotations

from collections.abc import Callable

from regard.errors import DataError, RegardError
from regard.inside.ablate.trial import (
    AblationTrial,
    LabelTrial,
    OwnLabelTrial,
    OwnWordTrial,
    SentenceTrial,
    TranslatorTrial,
    WordTrial,
    WritingTrial,
)
from regard.inside.textmodel import TextModel
from regard.models.reading import prepared
from regard.pieces.pieces import Pieces
from regard.pieces.text import learned_pieces
from regard.pieces.tokenizer import BOS, SPECIAL
from regard.store.folder import RunFolder, load_classifier, load_language_model, load_translator
from regard.store.shipped import find_folder

TrialOf = Callable[[str, str | None], AblationTrial]
"""From a text and what is measured of it, if it is said, to the trial."""


def own_reading(name: str) -> TrialOf:
    """Of one of regard's own models."""
    folder = find_folder(name)
    task = RunFolder(folder).read_config().get("task")
    if task == "translate":
        translator, tokens = load_translator(folder)
        return lambda text, target: TranslatorTrial(translator, tokens, text, target)
    if task == "classify":
        classifier, words = load_classifier(folder)
        return lambda text, target: OwnLabelTrial(
            classifier, learned_pieces(words, [prepared(words, text)])[0], target
        )
    language, tokens = load_language_model(folder)

    def next_word(text: str, target: str | None) -> AblationTrial:
        read = learned_pieces(tokens, [prepared(tokens, text)])[0].after(SPECIAL[BOS], BOS)
        return OwnWordTrial(language, tokens, read, target)

    return next_word


def text_reading(model: TextModel, most: int | None = None) -> TrialOf:
    """Of a model that ``look`` takes, loaded with what it predicts."""

    return lambda text, target: trial_of(model, model.read(text, most), target)


def trial_of(model: TextModel, pieces: Pieces, target: str | None) -> AblationTrial:
    """Of such a model with a text that was read."""
    if model.has_both:
        return WritingTrial(model, pieces, target)
    architecture = type(model.network).__name__
    if architecture.endswith("ForSequenceClassification"):
        return LabelTrial(model, pieces, target)
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return WordTrial(model, pieces, target, blank_of(model, pieces))
    if architecture.endswith(("ForCausalLM", "LMHeadModel")):
        return WordTrial(model, pieces, target)
    if target is not None:
        raise RegardError(
            f"{model.title} predicts no word and no label, so that there is no --target: its "
            "sentence vector is measured"
        )
    return SentenceTrial(model.title, model.network, pieces)


def blank_of(model: TextModel, pieces: Pieces) -> int:
    """Where the blank is that a masked model fills."""
    token = getattr(model.tokenizer, "mask_token_id", None)
    if token is None:
        found = (model.tokenizer.token_to_id(name) for name in ("[MASK]", "<mask>"))
        token = next((i for i in found if i is not None), None)
    places = [i for i, piece in enumerate(pieces.ids) if piece == token]
    if not places:
        raise DataError(
            f"{model.title} predicts the word in a blank: write [MASK] (or <mask>) into the text"
        )
    return places[0]
