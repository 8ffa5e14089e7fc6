"""A worked example's content as a TOML file: what is read from it is what was written."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from regard.worked.written import number, to_toml

numbers = st.integers(-999, 999) | st.decimals(-99, 99, places=3).map(float)
values = numbers | st.booleans() | st.text() | st.lists(st.lists(numbers, min_size=1), min_size=1)


@given(st.dictionaries(st.from_regex(r"[a-z_]{1,9}", fullmatch=True), values, max_size=5))
def test_what_is_written_is_read(content: dict[str, Any]) -> None:
    content.pop("claims", None)
    written = {**content, "claims": {"scores[0]": [1, 0.5]}}
    assert tomllib.loads(to_toml(written)) == written


def test_numbers_as_people_write_them() -> None:
    assert [number(n) for n in (2.0, 0.25, -0.0, 1e-12, 112)] == ["2", "0.25", "0", "0.0", "112"]
    assert to_toml({"a": Decimal("0.40")}) == "a = 0.40\n"


def test_comments_and_long_lists() -> None:
    text = to_toml({"x": [[0.123456] * 5] * 3}, {"": "two\nlines", "x": "why"})
    row = "    [0.123456, 0.123456, 0.123456, 0.123456, 0.123456],\n"
    assert text == f"# two\n# lines\nx = [\n{row * 3}]  # why\n"
