"""One step: its place, its axes, and its numbers as JSON."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from regard.trace import Array, Step, Trace
from tests.trace.traces import same

arrays = st.sampled_from(
    [np.float32, np.float64, np.float16, np.bool_, np.int64, np.uint8]
).flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
    )
)


def trace_of(*values: Array) -> Trace:
    steps = [
        Step(f"s{i}", value, axes=[f"a{n}" for n in range(value.ndim)])
        for i, value in enumerate(values)
    ]
    return Trace(steps, mechanism="test")


def refuse(literal: str) -> None:
    raise AssertionError(f"{literal} is not JSON")


@settings(max_examples=300)
@given(value=arrays)
def test_json_round_trip_is_exact(value: Array) -> None:
    """Infinities, NaN, -0.0, denormals, booleans and whole numbers, of any shape."""
    text = trace_of(value).to_json()
    same(Trace.from_dict(json.loads(text, parse_constant=refuse)).value("s0"), value)


@settings(max_examples=300)
@given(pattern=hnp.arrays(np.uint32, 16))
def test_every_float32_comes_back(pattern: Array) -> None:
    value = pattern.view(np.float32)
    same(Trace.from_dict(json.loads(trace_of(value).to_json())).value("s0"), value)


def test_float32_is_written_with_its_own_digits() -> None:
    step = trace_of(np.array([0.1, 1 / 3, np.inf, -np.inf, np.nan, -0.0], np.float32)).to_dict()
    value = step["steps"][0]["value"]
    assert json.dumps(value) == '[0.1, 0.33333334, "Infinity", "-Infinity", "NaN", -0.0]'


def test_step() -> None:
    step = Step("weights", np.zeros((2, 3)), axes=("query", "key"))
    assert step.axis("key") == 1
    assert repr(step) == "Step('weights', 2 query x 3 key)"
    assert repr(Step("n", np.array(1), axes=())) == "Step('n', one number)"
