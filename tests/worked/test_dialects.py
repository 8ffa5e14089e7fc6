"""Dialects: what a file that names no mechanism means, and that every key has its axes."""

from __future__ import annotations

import pytest

from regard.worked.dialects import DIALECTS, usual


@pytest.mark.parametrize(
    ("given", "scaled", "mechanism"),
    [
        ({"x"}, False, "simple"),
        ({"x", "w_q", "w_k", "w_v"}, False, "scaled"),
        ({"scores"}, False, "dot"),
        ({"scores"}, True, "scaled"),
        ({"queries", "keys"}, False, "scaled"),
        ({"x", "memory", "w_q"}, False, "cross"),
        ({"s", "h"}, False, "luong-dot"),
        ({"s", "h", "w_a"}, False, "bilinear"),
        ({"s", "h", "w_a", "v_a"}, False, "concat"),
        ({"x", "a", "b"}, False, "simple-rnn"),
        ({"s", "h", "u_a"}, False, "additive"),
    ],
)
def test_the_usual_mechanism(given: set[str], scaled: bool, mechanism: str) -> None:
    assert usual(given, scaled) == mechanism


@pytest.mark.parametrize("name", DIALECTS)
def test_a_mechanism_says_what_it_is_and_the_axes_of_what_it_takes(name: str) -> None:
    dialect = DIALECTS[name]
    assert dialect.about
    options = {key: option.default for key, option in dialect.options.items()}
    assert all(1 <= len(dialect.axes_of(key, options)) <= 2 for key in dialect.takes)
    assert set(dialect.needed(options)) <= set(dialect.takes)
    for (option, choice), keys in dialect.variants.items():
        assert choice in dialect.options[option].choices
        assert set(keys) <= set(dialect.needed({**options, option: choice}))
