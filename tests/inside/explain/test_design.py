"""Which recurrent designs are explained, and what is said of the others."""

from __future__ import annotations

import pytest

from regard.errors import ModelError, RegardError
from regard.inside.explain.design import recurrent_model
from regard.inside.explain.reader import ReaderModel
from regard.inside.explain.writer import WriterModel
from tests.inside.explain.steps import reader_of, writer_of


def test_who_explains_which() -> None:
    assert isinstance(recurrent_model(reader_of("lstmn"), ""), ReaderModel)
    assert isinstance(recurrent_model(reader_of("simple-rnn+attention"), ""), ReaderModel)
    assert isinstance(recurrent_model(writer_of("bahdanau"), "cross"), WriterModel)
    deep = writer_of("lstmn-deep")
    assert isinstance(recurrent_model(deep, "cross", "the cat"), WriterModel)
    assert recurrent_model(deep, "encoder").part == "encoder"


@pytest.mark.parametrize(
    ("design", "why"),
    [("lstm", "its last state"), ("simple-rnn", "its last state")],
)
def test_readers_without_attention(design: str, why: str) -> None:
    with pytest.raises(ModelError, match=f"own has no attention between words to explain: .*{why}"):
        recurrent_model(reader_of(design), "")


@pytest.mark.parametrize(
    ("design", "part", "error"),
    [
        ("encoder-decoder", "cross", "its decoder has one vector for the whole source"),
        ("word-by-word", "cross", "it says a word for each word that it reads"),
        ("bahdanau", "encoder", "--part encoder is not explained of own: its decoder alone att"),
        ("lstmn-shallow", "decoder", "--part cross shows a step of its decoder with both"),
    ],
)
def test_translators_and_their_parts(design: str, part: str, error: str) -> None:
    with pytest.raises(RegardError, match=error):
        recurrent_model(writer_of(design), part)
