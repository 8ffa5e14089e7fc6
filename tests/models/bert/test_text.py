"""A text as the model reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import DataError, ModelError
from regard.models.bert.text import BertText
from tests.models.bert.tinybert import save_tokenizer


@pytest.fixture
def text(tmp_path: Path) -> BertText:
    save_tokenizer(tmp_path)
    return BertText.load(tmp_path)


def test_a_text_is_read_whole_and_alone(text: BertText) -> None:
    """Though the file asks for texts cut to 4 tokens and filled to 16."""
    found = text.read("The animal crossed, unbelievable")
    assert found.tokens == [
        *("[CLS]", "the", "animal", "cross", "##ed", "[UNK]", "un", "##bel", "##iev", "##able"),
        "[SEP]",
    ]
    assert found.ids.tolist() == [2, 4, 5, 12, 13, 1, 20, 21, 22, 23, 3]
    assert found.special == [True, *[False] * 9, True]
    assert found.text[slice(*found.spans[2])] == "animal"


def test_the_pieces_of_a_word(text: BertText) -> None:
    found = text.read("It was Unbelievable")
    assert found.pieces("unbelievable") == [3, 4, 5, 6]
    assert found.pieces("it") == [1]
    assert found.pieces("cat") == []
    assert found.pieces("") == []


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_no_words(text: BertText, empty: str) -> None:
    with pytest.raises(DataError, match="there is no word in the text"):
        text.read(empty)


def test_strange_text(text: BertText) -> None:
    assert len(text.read("😀" * 10_000).tokens) == 3, "a run of signs is one unknown word"
    assert text.read("\x1b[31m it \x00").tokens[-2] == "it"
    with pytest.raises(DataError, match="must be valid Unicode"):
        text.read("half a pair: \ud800")


def test_folders_without_a_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"has no tokenizer.json"):
        BertText.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"tokenizer.json' is not a tokenizer"):
        BertText.load(tmp_path)
