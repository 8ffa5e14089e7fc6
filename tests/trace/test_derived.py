"""Values that are a rule until somebody looks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError
from regard.trace import Derived, Part, Step, Trace
from tests.trace.traces import same


def derived(rows: int, scope: str = "") -> Trace:
    """Weights of ``rows`` queries for 10 keys, 5 values wide, and their product."""
    random = np.random.default_rng(rows)
    trace = Trace()
    for _ in range(2):  # a name may come twice: the last one counts
        weights, values = (
            Step(name, random.random(shape, np.float32), axes=axes, scope=scope)
            for name, shape, axes in (
                ("weights", (2, rows, 10), ("head", "query", "key")),
                ("values", (10, 5), ("key", "width")),
            )
        )
        made = Derived(Part("weights", weights.value), Part("values", values.value))
        axes = ("head", "query", "key", "width")
        trace.steps += [weights, values, Step("weighted_values", made, axes=axes, scope=scope)]
    return trace


@pytest.mark.parametrize("scope", ["", "layer 0"])
@pytest.mark.parametrize(("rows", "kept"), [(1000, True), (1001, False)])
def test_a_large_derived_value_is_a_rule_in_the_file(
    rows: int, kept: bool, scope: str, tmp_path: Path
) -> None:
    trace = derived(rows, scope)
    trace.save(tmp_path / "trace.json")
    loaded = Trace.load(tmp_path / "trace.json")
    for step, again in zip(trace, loaded, strict=True):
        same(again.value, step.value)
        assert again.axes == step.axes
    last = json.loads((tmp_path / "trace.json").read_text())["steps"][-1]
    assert ("value" in last) == kept
    assert last["shape"] == [2, rows, 10, 5]
    if not kept:
        assert last["derived"] == "weights * values"
        last_step = loaded.steps[-1]
        assert last_step.derived is not None
        assert last_step.derived.weights.value is loaded.steps[-3].value
        assert loaded.to_json() == trace.to_json()


def test_a_derived_value_without_its_parts_is_written_itself() -> None:
    trace = derived(1001)
    alone = Trace(trace.steps[-1:])
    assert "value" in alone.to_dict()["steps"][0]
    other = Trace([*trace.steps[:2], trace.steps[-1]])  # weights, but those of another step
    assert "value" in other.to_dict()["steps"][-1]
    assert "value" in trace.steps[-1].to_dict()


@pytest.mark.parametrize(
    ("rule", "shape", "message"),
    [
        ("weights * nothing", [1], "'w' is made from .*, and no 'nothing' comes before it"),
        ("weights", [1], "'w' must be made from two steps, 'a \\* b', got 'weights'"),
        ("weights * values", [1, 2], r"'w' has shape \[1, 2\], 'weights \* values' \[1, 2, 3\]"),
        ("values * weights", [1], "3 weights of a query cannot weigh 1 values"),
    ],
)
def test_a_rule_that_does_not_fit(
    rule: str, shape: list[int], message: str, tmp_path: Path
) -> None:
    steps = [
        {"name": "weights", "axes": ["query", "key"], "value": [[0.5, 0.5]]},
        {"name": "values", "axes": ["key", "width"], "value": [[1, 2, 3], [4, 5, 6]]},
        {"name": "w", "axes": ["query", "key", "width"], "derived": rule, "shape": shape},
    ]
    content = {"regard": 1, "mechanism": "", "tokens": [], "steps": steps}
    (tmp_path / "trace.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match=message):
        Trace.load(tmp_path / "trace.json")
