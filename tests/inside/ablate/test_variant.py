"""What is taken away: heads by name, layers that are changed, random others."""

from __future__ import annotations

import pytest

from regard.errors import RegardError
from regard.inside.ablate.variant import HeadAt, Variant, parse_head, random_others
from regard.inside.observe.places import LayerPlace

HEADS = [HeadAt("self", layer, head) for layer in range(3) for head in range(4)]


def test_the_layers_that_are_changed() -> None:
    places = [LayerPlace(f"h.{i}.attn", "self", "", i, i) for i in range(3)]
    assert Variant((HEADS[5], HEADS[9])).lowest(places) == ["h.1.attn", "h.2.attn"]
    assert Variant(parts=("self",)).lowest(places) == [p.name for p in places]
    assert Variant(parts=("cross",)).lowest(places) == []


def test_random_others_are_as_many_and_none_of_them() -> None:
    draws = [*random_others(HEADS, HEADS[:5], 30, seed=2)]
    assert len(draws) == 30
    assert all(len(set(drawn)) == 5 and not {*drawn} & {*HEADS[:5]} for drawn in draws)
    assert draws == [*random_others(HEADS, HEADS[:5], 30, seed=2)]
    assert [*random_others(HEADS, HEADS[:7], 30, seed=2)] == []


@pytest.mark.parametrize("wrong", ["3", "3.", ".1", "a.b", "-1.2", "1.2.3"])
def test_a_head_is_written_with_a_dot(wrong: str) -> None:
    assert parse_head("3.11") == (3, 11)
    with pytest.raises(RegardError, match=r"takes LAYER\.HEAD"):
        parse_head(wrong)
