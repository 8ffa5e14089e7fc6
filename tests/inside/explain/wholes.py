"""Tiny models of every kind that put something out, in folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from regard.inside.ownmodel import OwnClassifier, OwnLanguage
from regard.inside.textmodel import TextModel, load
from regard.models import classifier, language
from regard.pieces.tokenizer import Tokenizer as Words
from tests.inside.tinytext import save, tokenizer

TEXT = "The animal didn't cross the street because it was"


def causal(folder: Path, family: str = "Llama", **settings: Any) -> TextModel:
    """A decoder with the scores of its words."""
    save(folder, family, "ForCausalLM", **settings)
    tokenizer().save(str(folder / "tokenizer.json"))
    return load(str(folder), predicts=True)


def masked(folder: Path) -> TextModel:
    """An encoder that fills a blank: its tokenizer's <pad> is called [MASK]."""
    save(folder, "Bert", "ForMaskedLM")
    words = Tokenizer.from_str(tokenizer().to_str().replace("<pad>", "[MASK]"))
    words.save(str(folder / "tokenizer.json"))
    return load(str(folder), predicts=True)


def labelled(folder: Path) -> TextModel:
    """An encoder that chooses a label."""
    save(folder, "Bert", "ForSequenceClassification", id2label={0: "sad", 1: "glad"})
    return load(str(folder), predicts=True)


def own_words() -> Words:
    return Words.train(["the cat sat on the mat", "the dog sat on the cat"] * 4, size=60)


def own_language(norm: str) -> OwnLanguage:
    """regard's own language model, untrained."""
    torch.manual_seed(5)
    words = own_words()
    config = language.sized(
        "transformer", "tiny", len(words), norm=norm, layers=2, heads=2, width=12, feedforward=20
    )
    model = language.LanguageModel(config).eval()
    torch.nn.init.normal_(model.bias)
    return OwnLanguage("own", model, words, None)


def own_classifier() -> OwnClassifier:
    torch.manual_seed(6)
    words = own_words()
    sizes = {"layers": 2, "heads": 2, "width": 12, "feedforward": 20}
    config = classifier.sized("transformer", "tiny", len(words), ("bad", "good"), **sizes)
    return OwnClassifier("own", classifier.Classifier(config).eval(), words, None)
