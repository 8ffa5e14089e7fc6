"""The texts that errors share: near names, missing parts, another library's words."""

from __future__ import annotations

import pytest

from regard.errors import MissingExtraError, RegardError, UnknownWordError, first_line, nearest


def test_near_names() -> None:
    known = ["heads", "head", "learning_rate", "layers"]
    assert nearest("haeds", known) == "; did you mean 'heads' or 'head'?"
    assert nearest("haeds", known, most=1) == "; did you mean 'heads'?"
    assert nearest("lr", known) == "; did you mean 'learning_rate'?", "its first letters"
    assert nearest("zzz", known) == nearest("l", ["learning"]) == ""


def test_a_missing_part_says_how_to_get_it() -> None:
    assert str(MissingExtraError("a picture", "matplotlib")) == (
        "a picture needs matplotlib: pip install matplotlib"
    )


def test_an_unknown_word_is_a_key_error_without_its_quotes() -> None:
    with pytest.raises(KeyError) as caught:
        raise UnknownWordError("'cat' is not one of the words")
    assert str(caught.value) == "'cat' is not one of the words"
    assert isinstance(caught.value, RegardError)


def test_another_librarys_error_on_one_line() -> None:
    assert first_line(ValueError("\n first \nsecond")) == "first "
    assert first_line(ValueError()) == "ValueError"
