"""Rotary positions: pairs turned by an angle, as complex numbers say it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import ExampleError
from regard.worked.stages import compute
from tests.worked.cases import generated
from tests.worked.written import load


@pytest.mark.parametrize("pairs", ["halves", "neighbours"])
def test_they_turn_complex_numbers(pairs: str) -> None:
    example = generated(("rotary", {"pairs": pairs}), 0)
    rng = np.random.default_rng(0)
    q, k = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    example = type(example)("rotary", ["a", "b", "c"], {"queries": q, "keys": k},
                            options={"pairs": pairs, "first": 2})  # fmt: skip
    trace = compute(example)
    for step, x in (("turned_queries", q), ("turned_keys", k)):
        one, two = (x[:, :2], x[:, 2:]) if pairs == "halves" else (x[:, ::2], x[:, 1::2])
        angle = np.arange(2, 5)[:, None] * 10000.0 ** -np.array([0, 0.5])
        turned = (one + 1j * two) * np.exp(1j * angle)
        parts = (turned.real, turned.imag)
        expected = np.concatenate(parts, -1)
        if pairs == "neighbours":
            expected = np.stack(parts, -1).reshape(3, 4)
        np.testing.assert_allclose(trace.value(step), expected, rtol=1e-12)
    scores = trace.value("turned_queries") @ trace.value("turned_keys").T
    np.testing.assert_allclose(trace.value("scaled"), scores / 2, rtol=1e-12)
    assert "context" not in trace


def test_an_odd_width_cannot_be_turned(tmp_path: Path) -> None:
    text = 'mechanism = "rotary"\nqueries = [[1, 2, 3]]\nkeys = [[1, 2, 3]]'
    with pytest.raises(ExampleError, match="queries must be of even width, got 1 x 3"):
        load(tmp_path, text)
