"""A sentence cut into words and marks, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RegardError
from regard.pieces.tokenise import ASCII, _pattern, spans, split, tokenise


def test_a_sentence_is_cut_into_words_and_marks() -> None:
    assert tokenise("The animal didn't cross, because it was 3.14 m wide.") == [
        "The", "animal", "didn't", "cross", ",", "because", "it", "was", "3.14", "m", "wide", ".",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我爱你", ["我", "爱", "你"]),
        ("Python很好!", ["Python", "很", "好", "!"]),
        ("cafe\u0301 l’été", ["cafe\u0301", "l’été"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("شما می\u200cروید", ["شما", "می\u200cروید"]),
        ("'quoted' New_York", ["'", "quoted", "'", "New_York"]),
        ("x-ray 1,000.", ["x", "-", "ray", "1,000", "."]),
        ("[bold]\x1b", ["[", "bold", "]", "\x1b"]),
    ],
)
def test_scripts_and_marks(text: str, tokens: list[str]) -> None:
    assert tokenise(text) == tokens


@given(st.text())
def test_tokens_hold_all_of_the_text_but_its_white_space(text: str) -> None:
    assert "".join(split(text)) == "".join(text.split())


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_pattern_for_ascii_is_the_same(text: str) -> None:
    assert ASCII.findall(text) == _pattern().findall(text)


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_an_empty_text_is_refused(text: str) -> None:
    with pytest.raises(RegardError, match="holds no words"):
        tokenise(text)


@given(st.text())
def test_where_tokens_stand(text: str) -> None:
    assert [text[a:b] for a, b in spans(text)] == split(text)
