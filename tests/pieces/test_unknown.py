"""What a model cannot read is told: how much, which characters, what to use instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer as Encoder
from tokenizers import models, normalizers, pre_tokenizers

from regard.pieces.text import load_tokenizer, read_text
from regard.pieces.tokenizer import Tokenizer
from regard.pieces.unknown import Unknown
from tests.models.bert.tinybert import save_tokenizer


@pytest.fixture
def pieces(tmp_path: Path) -> Encoder:
    save_tokenizer(tmp_path)
    encoder: Encoder = load_tokenizer(tmp_path)
    return encoder


def test_everything_is_known(pieces: Encoder) -> None:
    unknown = Unknown(read_text(pieces, "the cat sat"))
    assert not unknown
    assert unknown.note("tiny") == ""


def test_the_note(pieces: Encoder) -> None:
    unknown = Unknown(read_text(pieces, "the 猫 sat on 😀 the 猫"))
    assert unknown.note("tiny") == (
        "not in the vocabulary of tiny: '猫' ×2, '😀' (3 of 14 characters); it reads one and the "
        "same mark there, whatever the text says: use other words, or a model that reads bytes, "
        "such as smollm2"
    )
    assert "'猫' (all characters)" in Unknown(read_text(pieces, "猫")).note("tiny")
    told = unknown.note("x", what="alphabet", instead="write German")
    assert told.startswith("not in the alphabet of x: ")
    assert told.endswith(": write German")


def test_letters_of_a_word_are_told_together() -> None:
    german = Tokenizer.train(["der Hund und die Katze"] * 3, 60)
    unknown = Unknown(read_text(german, "der Пёс und Kaтze"), read_text(german, "猫"))
    assert dict(unknown.parts) == {"Пёс": 1, "т": 1, "猫": 1}
    assert "(5 of 15 characters)" in unknown.note("x")


def test_what_a_tokenizer_drops_without_a_mark_is_unknown_too() -> None:
    drops = Encoder(models.BPE({"a": 0, "b": 1}, []))
    drops.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    assert dict(Unknown(read_text(drops, "a猫 b a")).parts) == {"猫": 1}
    drops.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()])
    assert not Unknown(read_text(drops, "ab a\u0301 \x07 á")), "an accent may go"


def test_a_tokenizer_without_places() -> None:
    from transformers import ByT5Tokenizer

    assert not Unknown(read_text(ByT5Tokenizer(), "猫"))
