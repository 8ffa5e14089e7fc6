"""Tokens: round trips, the special ids, the size of the vocabulary, files."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError, FileError
from regard.pieces.tokenizer import BOS, EOS, PAD, UNK, Level, Tokenizer

TEXTS = [
    "Können Sie mir helfen, diesen Satz zu übersetzen?",
    "Can you help me to translate this sentence?",
    "Sie können diesen Satz lesen.",
    "You can read this sentence.",
] * 3
ALPHABET = sorted(set("".join(TEXTS)))


@pytest.fixture(scope="module")
def bpe() -> Tokenizer:
    return Tokenizer.train(TEXTS, 90)


def test_special_ids(bpe: Tokenizer) -> None:
    assert bpe.pieces([PAD, UNK, BOS, EOS]) == ["<pad>", "<unk>", "<s>", "</s>"]
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)


@given(st.text(ALPHABET, max_size=40))
def test_decode_undoes_encode_up_to_runs_of_spaces(text: str) -> None:
    tokens = Tokenizer.train(TEXTS, 90)
    assert tokens.decode(tokens.encode(text)) == " ".join(text.split())


def test_specials_are_not_added_and_are_dropped(bpe: Tokenizer) -> None:
    ids = bpe.encode("this sentence")
    assert not {PAD, UNK, BOS, EOS} & set(ids)
    assert bpe.decode([BOS, *ids, EOS, PAD, PAD]) == "this sentence"


def test_word_starts_are_marked_and_punctuation_is_alone(bpe: Tokenizer) -> None:
    pieces = bpe.pieces(bpe.encode("helfen, lesen."))
    assert "".join(pieces) == "▁helfen,▁lesen."
    assert "," in pieces
    assert "." in pieces


def test_pieces_are_joined_also_of_words_that_are_unknown(bpe: Tokenizer) -> None:
    ids = bpe.encode("the cat, the cat")
    assert bpe.join(bpe.pieces(ids)) == bpe.decode(ids)
    assert bpe.join(["▁Xylo", "▁saw", "s", ","]) == "Xylo saws,"
    assert Tokenizer.train(["a b"] * 2, 6, "space").join(["Xylo", "a"]) == "Xylo a"


def test_word_level_keeps_the_most_frequent_words() -> None:
    tokens = Tokenizer.train(["b b b", "a a", "c"], 10, "word", least=2)
    assert tokens.pieces(range(len(tokens))) == ["<pad>", "<unk>", "<s>", "</s>", "▁b", "▁a"]
    assert tokens.encode("a c b") == [5, UNK, 4]
    assert tokens.decode([5, 4]) == "a b"


def test_an_unknown_character_is_unk(bpe: Tokenizer) -> None:
    assert UNK in bpe.encode("日")


def test_encode_all_equals_encode(bpe: Tokenizer) -> None:
    assert bpe.encode_all(TEXTS) == [bpe.encode(text) for text in TEXTS]


def test_a_vocabulary_larger_than_the_text_allows() -> None:
    tokens = Tokenizer.train(TEXTS, 100_000)
    assert tokens.require(len(tokens)) is tokens
    with pytest.raises(DataError, match=rf"100000 is larger .* {len(tokens)} tokens"):
        tokens.require(100_000)


def test_no_text_and_no_size() -> None:
    with pytest.raises(DataError, match="no text"):
        Tokenizer.train([], 100)
    with pytest.raises(DataError, match="got size 4"):
        Tokenizer.train(TEXTS, 4)
    with pytest.raises(DataError, match="got 'letter'"):
        Tokenizer.train(TEXTS, 40, "letter")  # type: ignore[arg-type]


def test_save_and_load(bpe: Tokenizer, tmp_path: Path) -> None:
    bpe.save(tmp_path / "tokens.json")
    again = Tokenizer.load(tmp_path / "tokens.json")
    assert again.encode(TEXTS[0]) == bpe.encode(TEXTS[0])
    assert len(again) == len(bpe)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": 3}'])
def test_not_a_tokens_file(content: str, tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text(content)
    with pytest.raises(FileError, match="not a tokens file"):
        Tokenizer.load(tmp_path / "tokens.json")


def test_tokens_of_another_program(bpe: Tokenizer, tmp_path: Path) -> None:
    content = json.loads(bpe.tokenizer.to_str().replace("<pad>", "[PAD]"))
    (tmp_path / "tokens.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"got \[PAD\] <unk>"):
        Tokenizer.load(tmp_path / "tokens.json")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        Tokenizer.load(tmp_path / "tokens.json")


def test_one_very_long_word_does_not_stall_learning() -> None:
    """Learning takes time quadratic in the length of a word, so long ones are cut for it."""
    chance = random.Random(1)
    word = "".join(chance.choices("abcdefghij", k=160_000))
    began = time.process_time()
    tokens = Tokenizer.train([f"a few words and {word}"], 500, least=1)
    assert time.process_time() - began < 1.5  # 0.2 s; 6 s without the cut
    assert len(tokens) == 500
    assert tokens.decode(tokens.encode(word)) == word


def test_a_vocabulary_is_of_the_size_that_was_asked_for() -> None:
    tokens = Tokenizer.train(["abc def"] * 2, 6)
    with pytest.raises(DataError, match=r"of 6 is smaller than the text needs: .* are 11; ask for"):
        tokens.require(6)
    assert tokens.require(0) is tokens


def test_half_of_a_character_is_refused(bpe: Tokenizer) -> None:
    with pytest.raises(DataError, match="must be valid Unicode"):
        bpe.encode("a\udcff")


def test_a_file_that_would_cut_fill_up_or_add(bpe: Tokenizer, tmp_path: Path) -> None:
    import tokenizers
    from tokenizers.processors import TemplateProcessing

    other = tokenizers.Tokenizer.from_str(bpe.to_text())
    other.enable_truncation(3)
    other.enable_padding(length=9)
    other.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2)])
    other.save(str(tmp_path / "t.json"))
    loaded = Tokenizer.load(tmp_path / "t.json")
    text = "der hund schläft und isst und schläft"
    assert loaded.encode(text) == bpe.encode(text)
    assert loaded.encode_all([text, "der"]) == [bpe.encode(text), bpe.encode("der")]
    assert loaded.tokenizer.encode(text).ids == bpe.encode(text), "of what is exported too"


def test_numbers_with_a_gap(bpe: Tokenizer, tmp_path: Path) -> None:
    tree = json.loads(bpe.to_text())
    word = max(tree["model"]["vocab"], key=tree["model"]["vocab"].__getitem__)
    tree["model"]["vocab"][word] = 500
    (tmp_path / "t.json").write_text(json.dumps(tree))
    with pytest.raises(FileError, match="from 0 on without a gap; got the number 500"):
        Tokenizer.load(tmp_path / "t.json")


def changed(tokens: Tokenizer, **parts: object) -> Tokenizer:
    return Tokenizer.from_text(json.dumps(json.loads(tokens.to_text()) | parts))


def test_rules_of_another_maker_are_known(bpe: Tokenizer) -> None:
    tree = json.loads(bpe.to_text())
    added = [*tree["added_tokens"], tree["added_tokens"][0] | {"id": len(bpe), "content": "<x>"}]
    assert bpe.learned_here
    assert changed(bpe).learned_here
    for part, rule in (
        ("normalizer", {"type": "Lowercase"}),
        ("pre_tokenizer", None),
        ("model", tree["model"] | {"byte_fallback": True}),
        ("added_tokens", added),
    ):
        assert not changed(bpe, **{part: rule}).learned_here, part
    unigram = {"type": "Unigram", "unk_id": 1, "byte_fallback": False}
    vocabulary = [[piece, 0.0] for piece in bpe.pieces(range(len(bpe)))]
    assert not changed(bpe, model=unigram | {"vocab": vocabulary}).learned_here


@pytest.mark.parametrize("level", ["bpe", "word", "space"])
def test_tokens_say_what_they_are(level: Level) -> None:
    assert Tokenizer.train(["der hund und die katze"], 40, level, least=1).learned_here
    assert Tokenizer.train(["der hund und die katze"], 40, level, least=1).kind == level
