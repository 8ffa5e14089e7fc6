"""Split: no sentence on two sides, whatever the pairs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.train.data.pairs import Pair
from regard.train.data.split import groups, normalised, shared, split

SENTENCES = st.sampled_from(
    [f"{w} {n}{end}" for w in "ABab" for n in range(12) for end in ("", "  ", "!")]
)
PAIRS = st.lists(st.builds(Pair, SENTENCES, SENTENCES), min_size=1, max_size=60)


@given(PAIRS, st.integers(0, 5))
def test_no_sentence_is_on_two_sides(pairs: list[Pair], seed: int) -> None:
    try:
        parts = split(pairs, 0.2, 0.2, seed)
    except DataError:
        return
    assert sorted(parts.train + parts.valid + parts.test) == sorted(pairs)
    for side in (0, 1):
        one, two, three = (
            {normalised(pair[side]) for pair in part}
            for part in (parts.train, parts.valid, parts.test)
        )
        assert not one & two
        assert not one & three
        assert not two & three


def test_transitive_groups_by_hand() -> None:
    pairs = [Pair("a", "x"), Pair("b", "x"), Pair("B ", "y"), Pair("c", "z"), Pair("x", "a")]
    assert groups(pairs) == ["s a", "s a", "s a", "s c", "s x"]


def many(n: int) -> list[Pair]:
    return [Pair(f"satz {i}", f"sentence {i}", i) for i in range(n)]


def test_shares_and_stability() -> None:
    few, more = split(many(2000), 0.1, 0.05), split(many(3000), 0.1, 0.05)
    assert 150 < len(few.valid) < 250
    assert 70 < len(few.test) < 130
    assert set(few.valid) <= set(more.valid)
    assert split(many(2000), 0.1, 0.05, seed=1).valid != few.valid


def test_a_giant_group_is_trained_on() -> None:
    pairs = [*many(500), *(Pair("same", f"other {i}") for i in range(300))]
    for seed in range(20):
        assert sum(p.source == "same" for p in split(pairs, 0.2, 0.2, seed).train) == 300


def test_too_few_pairs() -> None:
    with pytest.raises(DataError, match=r"3 pairs are too few for a share of 0.001"):
        split(many(3), 0.001, 0.0)


def test_shared_counts_either_side() -> None:
    held_out = [Pair("Eins", "one"), Pair("zwei", "two")]
    pairs = [Pair("eins ", "a"), Pair("b", "TWO"), Pair("c", "eins")]
    assert shared(pairs, held_out) == 2
