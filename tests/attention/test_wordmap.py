"""Words for tokens, and slicing by text."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import AttentionMap, Word, causal
from regard.errors import RegardError, ShapeError, UnknownWordError

WEIGHTS = torch.tensor(
    [
        [0.5, 0.2, 0.2, 0.1],
        [0.1, 0.6, 0.1, 0.2],
        [0.3, 0.3, 0.4, 0.0],
        [0.0, 0.5, 0.0, 0.5],
    ]
)
WORDS = [Word("un", 0, 1), Word("likely", 1, 3), Word(".", 3, 4)]


def test_to_a_word_is_the_sum_and_from_it_the_mean() -> None:
    shown = AttentionMap.from_weights(WEIGHTS).by_word(WORDS)
    expected = [
        [0.5, 0.4, 0.1],
        [0.2, 0.7, 0.1],  # the mean of (0.1, 0.7, 0.2) and (0.3, 0.7, 0.0)
        [0.0, 0.5, 0.5],
    ]
    torch.testing.assert_close(shown.dense(), torch.tensor(expected))
    assert shown.shape == (3, 3)
    assert shown.queries == shown.keys == ["un", "likely", "."]
    assert shown["likely", "un"] == pytest.approx(0.2)
    (strongest,) = shown.top(1)
    assert (strongest.query, strongest.key) == (1, 1)
    assert strongest.weight == pytest.approx(0.7)


@given(st.integers(1, 17), st.integers(0, 99))
def test_rows_still_sum_to_one_in_any_block(n: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, n, 3, generator=generator)
    shown = AttentionMap.from_vectors(query, key, mask=causal())
    cuts = torch.randperm(n + 1, generator=generator)[: 1 + n // 2].tolist()
    edges = sorted({0, n, *cuts})
    words = [Word(str(a), a, b) for a, b in pairwise(edges)]
    grouped = shown.by_word(words)
    torch.testing.assert_close(grouped.dense().sum(-1), torch.ones(len(words)))
    torch.testing.assert_close(grouped.received().sum(), torch.tensor(float(len(words))))
    middle = len(words) // 2
    torch.testing.assert_close(
        grouped.block(slice(middle, None), (0, middle + 1)), grouped.dense()[middle:, : middle + 1]
    )
    assert grouped[0:0].shape == (0, len(words))


def test_cross_attention_has_words_of_its_own_on_each_side() -> None:
    shown = AttentionMap.from_weights(WEIGHTS[:2])
    grouped = shown.by_word([Word("a", 0, 2)], WORDS)
    torch.testing.assert_close(grouped.dense(), torch.tensor([[0.3, 0.55, 0.15]]))


def test_a_token_by_its_text() -> None:
    names = ["The", "cat", "the", "the"]
    shown = AttentionMap.from_weights(WEIGHTS, queries=names, keys=names)
    torch.testing.assert_close(shown["cat"], WEIGHTS[1])
    torch.testing.assert_close(shown["CAT", "The"], WEIGHTS[1, 0])
    torch.testing.assert_close(shown["the#2", 1:3], WEIGHTS[3, 1:3])
    torch.testing.assert_close(shown["the#3"], WEIGHTS[3])
    torch.testing.assert_close(shown[:, "the"], WEIGHTS[:, 2])


def test_mistakes() -> None:
    shown = AttentionMap.from_weights(WEIGHTS)
    with pytest.raises(RegardError, match="does not know its tokens: give positions, got 'cat'"):
        shown["cat"]
    known = AttentionMap.from_weights(WEIGHTS, queries=["a", "bcd", "e", "f"])
    with pytest.raises(UnknownWordError, match=r"'bcf' is not one of .* did you mean 'bcd'"):
        known["bcf"]
    with pytest.raises(ShapeError, match=r"'b' must begin at position 1 .* got 2 to 3"):
        shown.by_word([Word("a", 0, 1), Word("b", 2, 3)])
    with pytest.raises(ShapeError, match="must cover the map's 4 positions, they end at 1"):
        shown.by_word([Word("a", 0, 1)])
