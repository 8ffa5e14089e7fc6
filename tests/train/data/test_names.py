"""Names: a made-up one takes the place of a name on both sides, and of nothing else."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.train.data.config import PairsConfig
from regard.train.data.names import Names, made_up
from regard.train.data.pairs import Pair

TOM = Pair("Tom wohnt in Boston.", "Tom lives in Boston.", 1)


def renamed(pair: Pair, seed: str = "0") -> Pair:
    return Names([pair]).renamed(1.0, seed)[0]


def test_one_name_or_both_change_on_both_sides() -> None:
    changed = set()
    for seed in range(40):
        pair = renamed(TOM, str(seed))
        pattern = r"(\w+) wohnt in (\w+)\.\|\1 lives in \2\."
        found = re.fullmatch(pattern, f"{pair.source}|{pair.target}")
        assert found, pair
        changed.add((found[1] != "Tom", found[2] != "Boston"))
        assert pair.number == 1
    assert changed == {(True, False), (False, True), (True, True)}


def test_a_digit_ends_a_name_on_both_sides() -> None:
    pair = renamed(Pair("Apollo11 landete.", "Apollo 11 landed."))
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
    names = Names(pairs)
    assert not names.found
    assert not names.renamed(1.0, "0")


def test_the_share() -> None:
    names = Names([TOM] * 2000)
    assert not names.renamed(0.0, "0")
    assert 500 < len(names.renamed(0.3, "0")) < 700
    assert len(names.renamed(1.0, "0")) == 2000


def test_the_same_seed_draws_the_same_names() -> None:
    names, others = (Names([TOM] * 50) for _ in range(2))
    assert names.renamed(0.3, "7 1") == others.renamed(0.3, "7 1")
    assert names.renamed(0.3, "7 1") != names.renamed(0.3, "7 2")


def test_only_pairs_with_a_name_are_told_by_their_places() -> None:
    names = Names([Pair("Das ist gut.", "That is good."), TOM, Pair("er ist", "he is"), TOM])
    assert names.found == {1: ["Tom", "Boston"], 3: ["Tom", "Boston"]}
    assert list(names.renamed(1.0, "0")) == [1, 3]


def test_half_of_the_names_are_glued_from_words_of_the_text() -> None:
    words = Pair("qqqqqqqq", "xxxxxxxx")  # no made-up syllable has these letters
    drawn = Names([*[TOM] * 400, words]).renamed(1.0, "0").values()
    new = {word for pair in drawn for word in pair.source[:-1].split()}
    new -= {"Tom", "wohnt", "in", "Boston"}
    assert all(name.isalpha() and name.istitle() for name in new)
    glued = sum("q" in pair.source.lower() or "x" in pair.source for pair in drawn)
    # A beginning and an end are each drawn from Boston, lives, wohnt and those two, so that half of
    # 16/25 of the names have such a letter; and a pair has one new name or two.
    assert 100 < glued < 220


def test_no_glued_name_is_a_word_of_the_text() -> None:
    drawn = Names([*[TOM] * 2000, Pair("Garten", "Garage")]).renamed(1.0, "0").values()
    new = [word for pair in drawn for word in re.findall(r"\w+", pair.source)[::3]]
    assert any(word.startswith("Gar") for word in new)
    assert not {"Garten", "Garage", "Lives", "Wohnt"} & set(new)


def test_a_letter_whose_large_form_is_two_makes_no_name() -> None:
    names = Names([*[TOM] * 40, Pair("ßßßßßßßß", "ŉŉŉŉŉŉŉŉ")])
    for pair in names.renamed(1.0, "0").values():
        assert re.fullmatch(r"(\w+) wohnt in (\w+)\.", pair.source)
        assert all(word.istitle() for word in re.findall(r"\w+", pair.source)[::3])


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
