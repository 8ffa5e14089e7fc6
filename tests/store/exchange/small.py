"""Small Transformers with opinions, in run folders, and sentences to translate with them."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import torch

from regard.models.classifier import Classifier
from regard.models.classifier import sized as sized_classifier
from regard.models.language import LanguageModel
from regard.models.language import sized as sized_language
from regard.models.translators.base import Translator
from regard.models.translators.beam import translate_batch
from regard.models.translators.builder import build
from regard.models.translators.config import TranslatorConfig
from regard.pieces.tokenizer import BOS, EOS, PAD, Tokenizer
from regard.store.folder import RunFolder
from regard.store.weights import named_weights, write_weights

TEXT = "der die das hund katze haus maus schläft isst liest läuft und ein . ?"
TOKENS = Tokenizer.train([TEXT] * 3, 70)
SHAPE: dict[str, Any] = {
    "width": 22,
    "layers": 2,
    "heads": 2,
    "feedforward": 29,
    "norm": "pre",
    "tied": True,
}


def sentences(count: int = 200) -> list[str]:
    chance = random.Random(7)
    return [" ".join(chance.choices(TEXT.split(), k=chance.randint(1, 9))) for _ in range(count)]


def translator(**changes: Any) -> Translator:
    """Weights large enough for the model to say different things."""
    torch.manual_seed(11)
    shape = SHAPE | changes
    made = build(TranslatorConfig(model="transformer", vocabulary=len(TOKENS), **shape)).eval()
    _liven(made)
    with torch.no_grad():
        made.vocabulary.bias[[PAD, BOS]] -= 30.0  # as a trained model has it: never said
    return made


def said(model: Translator, texts: list[str], longest: int) -> list[list[int]]:
    """What the model says greedily, in tokens: at most so many, the end included."""
    ids = [[*TOKENS.encode(text), EOS] for text in texts]
    lengths = torch.tensor([len(one) for one in ids])
    source = torch.zeros(len(ids), int(lengths.max()), dtype=torch.long)
    for row, one in enumerate(ids):
        source[row, : len(one)] = torch.tensor(one)
    found = [h.ids for h in translate_batch(model, source, lengths, max_length=longest)]
    assert len({*map(tuple, found)}) > 20
    return found


def language(design: str = "transformer", strength: float = 2.0, **changes: Any) -> LanguageModel:
    torch.manual_seed(12)
    made = LanguageModel(sized_language(design, "tiny", len(TOKENS), **changes)).eval()
    _liven(made, strength)
    return made


def classifier(design: str, **changes: Any) -> Classifier:
    torch.manual_seed(13)
    labels = ("bad", "fair", "good")
    made = Classifier(sized_classifier(design, "tiny", len(TOKENS), labels, **changes)).eval()
    _liven(made)
    return made


def _liven(model: torch.nn.Module, strength: float = 2.0) -> None:
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(strength)
            else:
                parameter.add_(torch.randn_like(parameter) * 0.2)


def saved(folder: Path, model: Translator | LanguageModel | Classifier) -> Path:
    """A run folder with this model in it."""
    run = RunFolder(folder)
    task = {LanguageModel: "lm", Classifier: "classify"}.get(type(model), "translate")
    data = {"pairs": "/home/me/deu.txt.gz", "level": "bpe"}
    run.write_config({"task": task, "model": model.config.to_dict(), "data": data})
    TOKENS.save(run.path / "tokens.json")
    write_weights(run.model, {k: v.detach().clone() for k, v in named_weights(model).items()})
    return folder
