"""Small traces, and when two arrays are the same to the last bit."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from regard.trace import Array


def bits(value: Array) -> Array:
    """What tells -0.0 from 0.0; every NaN is the same."""
    if value.dtype.kind != "f":
        return value
    value = np.where(np.isnan(value), value.dtype.type(np.nan), value)
    return value.view(f"u{value.dtype.itemsize}")


def same(got: Array, expected: Array) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    np.testing.assert_array_equal(bits(got), bits(expected))


FINE = {"name": "x", "axes": ["width"], "value": [1.0]}


def content(**step: Any) -> str:
    steps = [{**FINE, **step}]
    return json.dumps({"regard": 1, "mechanism": "", "tokens": [], "steps": steps})
