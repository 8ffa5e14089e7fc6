"""Names: a made-up one takes the place of a name on both sides, and of nothing else."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.train.data.config import PairsConfig
from regard.train.data.names import made_up, renamed
from regard.train.data.pairs import Pair

TOM = Pair("Tom wohnt in Boston.", "Tom lives in Boston.", 1)


def test_one_name_changes_on_both_sides() -> None:
    for seed in range(20):
        (pair,) = renamed([TOM], 1.0, seed)
        pattern = r"(\w+) wohnt in (\w+)\.\|\1 lives in \2\."
        found = re.fullmatch(pattern, f"{pair.source}|{pair.target}")
        assert found, pair
        assert (found[1] == "Tom") != (found[2] == "Boston")
        assert pair.number == 1


def test_a_digit_ends_a_name_on_both_sides() -> None:
    (pair,) = renamed([Pair("Apollo11 landete.", "Apollo 11 landed.")], 1.0)
    assert re.fullmatch(r"(\w+)11 landete\.\|\1 11 landed\.", f"{pair.source}|{pair.target}"), pair
    assert "Apollo" not in pair.source


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Tom liebt Toms Hund.", "Tom loves Tom's dog."),  # twice on one side
        ("Maria schläft.", "Mary is asleep."),  # another form
        ("Winter ist schön.", "Winter is nice."),  # written small elsewhere
        ("In Europa.", "In Asia."),
        ("Die CD ist alt.", "The CD is old."),  # not a name's letters
        ("Al schläft.", "Al sleeps."),  # two letters: more likely no name
        ("Das ist gut.", "That is good."),
    ],
)
def test_what_is_no_name_stays(source: str, target: str) -> None:
    pairs = [Pair(source, target), Pair("er ist in", "i like winter")]
    assert renamed(pairs, 1.0) == pairs


def test_the_share() -> None:
    pairs = [TOM] * 2000
    assert renamed(pairs, 0.0) == pairs
    changed = sum(pair != TOM for pair in renamed(pairs, 0.3))
    assert 500 < changed < 700
    assert renamed(pairs, 0.3, seed=5) == renamed(pairs, 0.3, seed=5) != renamed(pairs, 0.3, seed=6)


@given(st.integers(0, 10**6))
def test_a_made_up_name_looks_like_one(seed: int) -> None:
    name = made_up(random.Random(seed))
    assert name.isalpha()
    assert name.istitle()
    assert 3 <= len(name) <= 21
    other = made_up(random.Random(seed), {name.lower()})
    assert other != name


def test_a_share_that_is_none() -> None:
    with pytest.raises(ConfigError, match=r"names must be from 0 to 1, got 1\.5"):
        PairsConfig(pairs="x", names=1.5)
