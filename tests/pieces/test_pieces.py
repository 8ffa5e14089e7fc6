"""Pieces: labels, places and words of whatever was cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import UnknownWordError
from regard.pieces.pieces import Pieces
from regard.pieces.text import load_tokenizer, read_text
from regard.text import Word
from tests.models.bert.tinybert import save_tokenizer


@pytest.fixture
def read(tmp_path: Path) -> Pieces:
    save_tokenizer(tmp_path)
    return read_text(load_tokenizer(tmp_path), "The unbelievable cat. the cat")


def test_a_word_by_its_name(read: Pieces) -> None:
    assert read.word("unbelievable") == (Word("unbelievable", 2, 6), 1)
    assert read.word("##iev") == (Word("##iev", 4, 5), 1)
    assert read.word("cat#2") == (Word("cat", 9, 10), 2)
    assert read.word("the") == (Word("the", 8, 9), 1), "as it is written goes first"
    assert read.word("the#2")[0].start == 8
    assert read.word("THE") == (Word("The", 1, 2), 2)


def test_a_word_that_is_not_there(read: Pieces) -> None:
    with pytest.raises(UnknownWordError, match="'cat' occurs 2 times, got 'cat#3'"):
        read.word("cat#3")
    with pytest.raises(UnknownWordError) as error:
        read.word("dog")
    listed = "[CLS] The unbelievable cat . the [SEP]"
    assert str(error.value) == f"'dog' is not one of the words '{listed}'", "each once"
    with pytest.raises(UnknownWordError, match="; did you mean 'unbelievable'"):
        read.word("unbeleivable")
    with pytest.raises(UnknownWordError, match="; did you mean '##bel' or '##able'"):
        read.word("##abel")


def test_the_beginning_and_special_pieces_around_it(read: Pieces) -> None:
    first = read.beginning(4)
    assert first.labels == ["[CLS]", "the", "un", "##bel"]
    assert first.words[-1] == Word("unbelievable", 2, 4)
    around = first.after("<s>", 7).before("</s>", 8)
    assert around.labels == ["<s>", *first.labels, "</s>"]
    assert around.ids == [7, *first.ids, 8]
    assert around.words[-2:] == [Word("unbelievable", 3, 5), Word("</s>", 5, 6)]
    assert around.special == [True, True, False, False, False, True]
    assert around.separators == [False] * 5 + [True]
    assert around.places == [(), *first.places, ()]
    assert len(around.unknown) == len(around) == 6
    assert read.without_last().labels == read.labels[:-1]
    assert read.after("<s>", 1).without_first() == read


def test_pieces_of_which_little_is_known() -> None:
    plain = Pieces.plain(["a", "b"], [5, 6], "source")
    assert plain.words == [Word("a", 0, 1), Word("b", 1, 2)]
    assert (plain.ids, plain.name, plain.placed) == ([5, 6], "source", False)
    assert plain.sinks == [True, False]
    assert plain.silent == [False, False]
    assert Pieces.numbered(3).labels == ["0", "1", "2"]


def test_what_is_said_of_a_piece_stands_behind_its_label() -> None:
    told = Pieces.of_thing((), ["0,0", "0,1"], [(0, 0, 3, 5), (3, 0, 6, 5)]).told(["bag", "boot"])
    assert told.labels == ["0,0 (bag)", "0,1 (boot)"]
    assert told.words == [Word("0,0 (bag)", 0, 1), Word("0,1 (boot)", 1, 2)]
    assert told.places == [(0, 0, 3, 5), (3, 0, 6, 5)]
