"""Which head is shown when nobody says which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from regard.inside.explain.link import FUNCTION_WORDS, HeadLink, choose, is_content
from regard.pieces.pieces import Pieces
from regard.text import Word


def pieces_of(*labels: str) -> Pieces:
    """Those in brackets are special."""
    return replace(Pieces.plain(labels), special=[label.startswith("[") for label in labels])


READ = pieces_of("[CLS]", "the", "cat", "sat", "because", "it", "slept", "[SEP]")
CLS, THE, CAT, SAT, BECAUSE, IT, SLEPT, SEP = READ.words


def weights(**links: float) -> np.ndarray:
    """2 layers, 3 heads, 8 tokens; ``l1h2_5_2=0.5`` sets one weight."""
    found = np.full((2, 3, 8, 8), 0.01)
    for name, value in links.items():
        place, i, j = name.split("_")
        found[int(place[1]), int(place[3]), int(i), int(j)] = value
    return found


def test_the_strongest_link_to_an_earlier_content_word() -> None:
    """Special tokens, function words, the word itself and later words do not count."""
    given = weights(
        l0h0_5_0=0.99, l0h1_5_4=0.98, l0h2_5_5=0.97, l1h0_5_6=0.96, l1h1_5_2=0.5, l1h2_5_3=0.4
    )
    choice = choose(given, READ, word=IT)
    assert choice.best == HeadLink(1, 1, IT, CAT, 0.5)
    assert [(o.layer, o.head, o.to) for o in choice.others] == [(1, 2, SAT), (0, 0, CAT)]
    assert choice.among == "an earlier content word"
    assert choice.heads == 6


def test_a_named_word_layer_or_head() -> None:
    given = weights(l0h0_5_2=0.3, l0h1_5_6=0.4, l1h1_5_2=0.5, l1h2_5_6=0.2)
    assert choose(given, READ, word=IT, to=SLEPT).best == HeadLink(0, 1, IT, SLEPT, 0.4)
    assert choose(given, READ, word=IT, to=SLEPT).among == "'slept'"
    assert choose(given, READ, word=IT, layer=0).best == HeadLink(0, 0, IT, CAT, 0.3)
    only = choose(given, READ, word=IT, layer=1, head=2)
    assert (only.best.layer, only.best.head, only.heads, only.others) == (1, 2, 1, [])


def test_without_a_word_the_strongest_pair_is_found() -> None:
    given = weights(l0h2_6_3=0.6, l1h0_3_2=0.5, l0h0_2_6=0.9, l0h1_0_2=0.8)
    assert choose(given, READ).best == HeadLink(0, 2, SLEPT, SAT, 0.6)


@pytest.mark.parametrize(
    ("tokens", "word", "among", "to"),
    [
        (["[CLS]", "cat", "sat", "[SEP]"], 1, "another content word", 2),
        (["[CLS]", "it", "was", "[SEP]"], 2, "another word", 1),
        (["[CLS]", "cat", "[SEP]"], 1, "any token", 0),
    ],
)
def test_fallbacks(tokens: list[str], word: int, among: str, to: int) -> None:
    n = len(tokens)
    given = np.full((1, 1, n, n), 1 / n)
    read = pieces_of(*tokens)
    choice = choose(given, read, word=read.words[word])
    assert (choice.among, choice.best.to.start) == (among, to)


def test_words_of_several_tokens() -> None:
    """From one the mean over its tokens, to one their sum; earlier is before its first token."""
    given = weights(l0h0_3_1=0.2, l0h0_4_1=0.4, l0h0_3_2=0.1, l0h0_4_2=0.3, l1h2_5_4=0.9)
    last, first = Word("sat because", 3, 5), Word("the cat", 1, 3)
    found = choose(given, READ, word=last, to=first).best
    assert (found.layer, found.head, found.word, found.to) == (0, 0, last, first)
    assert found.weight == pytest.approx((0.2 + 0.1 + 0.4 + 0.3) / 2)
    assert choose(given, READ, word=last).best.to == CAT


@pytest.mark.parametrize(
    ("source", "among", "to"),
    [
        (["the", "dog", "slept", "[SEP]"], "a content word of the source", 1),
        (["the", "it", "[SEP]"], "a word of the source", 1),
        (["[CLS]", "[SEP]"], "any token of the source", 1),
    ],
)
def test_in_another_text_no_word_is_earlier(source: list[str], among: str, to: int) -> None:
    """The word at the same place counts like any other."""
    keys = pieces_of(*source)
    given = np.full((1, 2, 8, len(source)), 0.1)
    given[0, 1, 1, to] = 0.7
    found = choose(given, READ, keys)
    assert (found.among, found.best.head, found.best.word) == (among, 1, THE)
    assert (found.best.to, found.best.weight) == (keys.words[to], 0.7)
    named = choose(given, READ, keys, word=THE, to=keys.words[0])
    assert (named.among, named.best.weight) == (f"'{source[0]}'", 0.1)


def test_what_the_model_cannot_read_is_never_chosen() -> None:
    unknown = replace(READ, unknown=[i == 2 for i in range(8)])
    given = weights(l0h0_5_2=0.9, l0h1_2_3=0.8, l0h1_5_3=0.3, l1h0_6_2=0.7)
    assert choose(given, unknown, word=IT).best.to == SAT
    assert choose(given, unknown).best == HeadLink(0, 1, IT, SAT, 0.3)
    alone = replace(pieces_of("[CLS]", "猫", "it", "[SEP]"), unknown=[False, True, False, False])
    choice = choose(np.full((1, 1, 4, 4), 0.25), alone)
    assert (choice.best.word.start, choice.among, choice.best.to.start) == (2, "any token", 0)
    assert choose(given, unknown, word=IT, to=CAT).best.weight == 0.9, "but it may be asked for"


@pytest.mark.parametrize(
    ("token", "special", "expected"),
    [
        *(("animal", False, True), ("Animal", False, True), ("猫", False, True)),
        *(
            ("It", False, False),
            ("##ing", False, False),
            ("▁It", False, False),
            (".", False, False),
            ("12", False, False),
        ),
        ("[cls]", True, False),
    ],
)
def test_content_words(token: str, special: bool, expected: bool) -> None:
    assert is_content(token, special) is expected


def test_the_list_of_function_words() -> None:
    assert {"it", "because", "the", "was", "didn", "t"} <= FUNCTION_WORDS
    assert not {"animal", "street", "tired", "wide", "cross"} & FUNCTION_WORDS
    assert all(word == word.lower() for word in FUNCTION_WORDS)
