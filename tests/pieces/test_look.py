"""A look as plain data: names of tokens or words, and what is left out."""

from __future__ import annotations

from regard.pieces.look import LookRequest
from tests.pieces.looks import TEXTS, made_up, pieces


def test_names_of_tokens_and_of_words() -> None:
    assert made_up().names == (TEXTS, TEXTS)
    words = ["[CLS]", "it", "was", "unreal", "[SEP]"]
    assert made_up(words=True).names == (words, words)


def test_what_no_sink_leaves_out() -> None:
    assert made_up().left_out == (set(), set())
    assert made_up(no_sink=True).left_out == ({0, 5}, {0, 5})
    assert made_up(no_sink=True, words=True).left_out == ({0, 4}, {0, 4})


def test_a_word_is_what_its_first_token_is() -> None:
    of = [True, False, False, True, False, False]
    assert pieces().by_word(of) == [True, False, False, True, False]


def test_its_heads_can_be_ranked() -> None:
    look = made_up()
    look.weights = {(1, 0): 0.5, (0, 2): 0.75}
    ranking = look.ranking()
    assert ranking.tokens == TEXTS
    assert ranking.ranked()[:2] == [(0, 2), (1, 0)]


def test_the_layers_that_are_looked_at() -> None:
    assert LookRequest().layers is None
    assert LookRequest(layer=0).layers == [0]
