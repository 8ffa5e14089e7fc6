"""Split: groups by hand, shares, and places that stay."""

from __future__ import annotations

import pytest

from regard.errors import DataError
from regard.train.data.split import groups, keys_of, normalised, places


def test_keys() -> None:
    assert keys_of(("Ein  Satz",)) == ("ein satz",)
    assert keys_of(("Eins", "ONE")) == ("s eins", "t one")
    assert normalised(" ﬁne\tWeather ") == "fine weather"


def test_transitive_groups_by_hand() -> None:
    pairs = [("a", "x"), ("b", "x"), ("B ", "y"), ("c", "z"), ("x", "a")]
    assert groups([keys_of(pair) for pair in pairs]) == ["s a", "s a", "s a", "s c", "s x"]
    assert groups([keys_of((text,)) for text in ("A", "b", "a ")]) == ["a", "b", "a"]


def names(count: int) -> list[str]:
    return [f"sentence {i}" for i in range(count)]


def test_shares_and_stability() -> None:
    few, more = places(names(2000), 0.1, 0.05), places(names(3000), 0.1, 0.05)
    assert 150 < few.count("valid") < 250
    assert 70 < few.count("test") < 130
    assert more[:2000] == few, "adding lines moves no other group"
    assert places(names(2000), 0.1, 0.05, seed=1) != few


def test_a_giant_group_is_trained_on() -> None:
    for seed in range(20):
        assert places([*names(500), *["same"] * 300], 0.2, 0.2, seed)[500:] == ["train"] * 300


def test_too_few() -> None:
    said = r"no pairs fell to the valid part: 3 pairs are too few for a share of 0.001, equal ones"
    with pytest.raises(DataError, match=said):
        places(names(3), 0.001, 0.0, what="pairs")
