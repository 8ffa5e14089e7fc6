"""Trace and Step: looked up by name, exact in JSON, readable in print."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError, RegardError
from regard.text import columns
from regard.trace import Array, Step, Trace, format_trace
from tests.trace.traces import content, same


def test_the_form_of_the_json() -> None:
    step = Step(
        "weights",
        np.array([[0.5, 0.5]]),
        axes=("query", "key"),
        formula="f",
        meaning="m",
        labels={"key": ["a", "b"]},
        scope="layer 0",
    )
    trace = Trace([step], mechanism="scaled", tokens=["a", "b"])
    assert trace.to_dict() == {
        "regard": 1,
        "mechanism": "scaled",
        "tokens": ["a", "b"],
        "steps": [
            {
                "name": "weights",
                "axes": ["query", "key"],
                "scope": "layer 0",
                "labels": {"key": ["a", "b"]},
                "formula": "f",
                "meaning": "m",
                "dtype": "float64",
                "shape": [1, 2],
                "value": [[0.5, 0.5]],
            }
        ],
    }


def test_a_trace_written_by_hand_needs_only_names_axes_and_values() -> None:
    step = {"name": "x", "axes": ["query", "width"], "value": [[1, 0.5]]}
    trace = Trace.from_dict({"regard": 1, "mechanism": "", "tokens": [], "steps": [step]})
    same(trace.value("x"), np.array([[1, 0.5]], np.float32))


def test_save_and_load(tmp_path: Path) -> None:
    step = Step(
        "weights",
        lambda: np.array([[0.1, -np.inf]], np.float32),
        axes=("query", "key"),
        formula="f",
        meaning="m",
        labels={"key": ["ein", "übel"]},
        scope="layer 0",
    )
    trace = Trace([step], mechanism="scaled", tokens=["ein", "übel", "日本", "\udcff"])
    path = tmp_path / "trace.json"
    trace.save(path)
    loaded = Trace.load(path)
    assert loaded.to_dict() == trace.to_dict()
    assert (loaded.mechanism, loaded.tokens) == (trace.mechanism, trace.tokens)
    assert loaded["weights"].path == "layer 0/weights"
    assert loaded["weights"].labels == {"key": ["ein", "übel"]}
    assert "日本" in path.read_text(encoding="utf-8")
    assert os.listdir(tmp_path) == ["trace.json"]


def test_save_leaves_the_old_file_if_it_cannot_write(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    Trace(mechanism="old").save(path)

    def fail() -> Array:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Trace([Step("x", fail, axes=())]).save(path)
    assert Trace.load(path).mechanism == "old"
    assert os.listdir(tmp_path) == ["trace.json"]
    with pytest.raises(FileError, match=r"cannot write '.*nowhere.*': its folder does not exist"):
        Trace().save(tmp_path / "nowhere" / "trace.json")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a trace written by regard .*; make it anew"),
        ('{"regard": 1, "mecha', "is not a trace written by regard"),
        ("[]", """is not a trace: a trace begins with "regard": 1, got 'list'"""),
        ("{}", """is not a trace: a trace begins with "regard": 1, got None"""),
        ('{"regard": 2}', """is not a trace: a trace begins with "regard": 1, got 2"""),
        ('{"regard": 1}', "'steps'"),
        (content(value=[[1.0], [1.0, 2.0]]), "is not a trace written by regard"),
        (content(value=["a"]), "could not convert string to float: 'a'"),
        (content(dtype="float31"), "float31"),
        (content(shape=[2]), r"cannot reshape array of size 1 into shape \(2,\)"),
        (content(axes=["query", "key"]), r"'x' names 2 axes, its value has 1"),
        (content(dtype="uint8", value=[300]), "is not a trace written by regard"),
    ],
)
def test_load_says_what_is_wrong(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        Trace.load(path)
    assert str(caught.value).startswith(repr(str(path)))


def test_load_without_a_file_or_of_bytes(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read '.*none.json': No such file or directory"):
        Trace.load(tmp_path / "none.json")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="is not a trace written by regard"):
        Trace.load(tmp_path / "bytes")


def named(*paths: str) -> Trace:
    steps = []
    for path in paths:
        scope, _, name = path.rpartition("/")
        steps.append(Step(name, np.zeros(1), axes=("width",), scope=scope))
    return Trace(steps)


def test_lookup() -> None:
    trace = named("input", "layer 0/weights", "layer 1/weights")
    assert trace["input"].name == "input"
    assert trace["layer 1/weights"].scope == "layer 1"
    assert [step.path for step in trace.all("weights")] == ["layer 0/weights", "layer 1/weights"]
    assert "weights" in trace
    assert "layer 0/weights" in trace
    assert "nothing" not in trace
    assert len(trace) == 3
    beside = named("weights", "readout/weights")
    assert beside["weights"].scope == "", "of two of a name the one whose whole path it is"


def test_a_name_that_occurs_twice() -> None:
    text = (
        r"must be unique to be looked up: 'weights' occurs 2 times \('layer 0/weights', "
        r"'layer 1/weights'\); use a path or trace.all\('weights'\)"
    )
    with pytest.raises(RegardError, match=text):
        named("layer 0/weights", "layer 1/weights")["weights"]
    with pytest.raises(RegardError, match=r"occurs 6 times .*'layer 3/x', …"):
        named(*(f"layer {i}/x" for i in range(6)))["x"]


def test_a_name_that_does_not_occur() -> None:
    trace = named("input", "scores", "weights")
    with pytest.raises(
        RegardError,
        match=r"no step is called 'wieghts'; this trace has input, scores, weights; "
        r"did you mean 'weights'\?",
    ):
        trace["wieghts"]
    with pytest.raises(RegardError, match=r"no step is called 'x'; this trace has no steps$"):
        Trace()["x"]


def test_print_is_a_table() -> None:
    trace = Trace(
        [
            Step("scores", np.array([[0.5, -2.25]]), axes=("query", "key"), formula="e = q · k"),
            Step("mask", np.array([[True, False]]), axes=("query", "key"), formula="may i?"),
            Step("scaled", np.array([[1 / 3, -np.inf]]), axes=("query", "key")),
            Step("context", np.zeros((1, 0)), axes=("query", "width"), scope="layer 0"),
        ],
        mechanism="scaled",
        tokens=["it", "was"],
    )
    assert str(trace) == format_trace(trace)
    assert str(trace).splitlines() == [
        "scaled: 4 steps over 2 tokens: it was",
        "  step             shape             least    most  formula",
        "  scores           1 query x 2 key   -2.25     0.5  e = q · k",
        "  mask             1 query x 2 key       0       1  may i?",
        "  scaled           1 query x 2 key  0.3333  0.3333",
        "  layer 0/context  1 query x 0 width",
    ]
    assert str(Trace()).splitlines()[0] == "trace: 0 steps"


def test_print_is_safe_and_narrow() -> None:
    step = Step(
        "weighted_values",
        np.zeros((2, 8, 10, 10, 64)),
        axes=("batch", "head", "query", "key", "width"),
        formula="a[i,j] v_j, and a long explanation of it",
        scope="層 0",
    )
    trace = Trace([step], tokens=["a\x1b[31mb", "猫", "c\rd", *["word"] * 50])
    lines = str(trace).splitlines()
    assert lines[0].startswith("trace: 1 step over 53 tokens: a\\x1b[31mb 猫 c\\rd word")
    assert all(columns(line) <= 100 for line in lines)
    assert [line[-1] for line in (lines[0], lines[2])] == ["…", "…"]
    shape = lines[1].index("shape")
    assert columns(lines[2][: lines[2].index("2 batch")]) == shape
