"""Dialects: what a file that names no mechanism means, and that every key has its axes."""

from __future__ import annotations

import pytest

from regard.worked.dialects import AXES, DIALECTS, usual


@pytest.mark.parametrize(
    ("given", "scaled", "mechanism"),
    [
        ({"x"}, False, "simple"),
        ({"x", "w_q", "w_k", "w_v"}, False, "scaled"),
        ({"scores"}, False, "dot"),
        ({"scores"}, True, "scaled"),
        ({"queries", "keys"}, False, "scaled"),
        ({"x", "memory", "w_q"}, False, "cross"),
        ({"s", "h"}, False, "bilinear"),
        ({"s", "h", "u_a"}, False, "additive"),
    ],
)
def test_the_usual_mechanism(given: set[str], scaled: bool, mechanism: str) -> None:
    assert usual(given, scaled) == mechanism


def test_every_key_of_every_mechanism_has_its_axes() -> None:
    taken = {key for dialect in DIALECTS.values() for key in dialect.takes}
    assert taken - AXES.keys() - {"x", "memory", "s", "h"} == set()
