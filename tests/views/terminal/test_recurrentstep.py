"""A recurrent step on one screen."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest

from regard.trace import Step, Trace
from regard.views.terminal.console import make_console
from regard.views.terminal.recurrentstep import RecurrentStepView, print_recurrent_step


def step_of(n: int, raised: bool = False) -> Trace:
    """n words of equal weight but for the last one, which has half."""
    labels = {"key": [f"w{j}" for j in range(n)]}
    weights = np.append(np.full(n - 1, 0.5 / (n - 1)), 0.5)
    values = np.arange(3.0 * n).reshape(n, 3)
    pairs = [("scores", np.arange(float(n)))] + [("raised", np.arange(float(n)) + 2)] * raised
    steps = [Step("word", np.ones(5), axes=("width",), formula="x_t", meaning="The word.")]
    for name, value in (*pairs, ("weights", weights)):
        steps.append(Step(name, value, axes=("key",), labels=labels, formula=f"f({name})"))
    for name, rows in (("values", values), ("weighted_values", weights[:, None] * values)):
        steps.append(Step(name, rows, axes=("key", "width"), labels=labels, formula="a v"))
    steps.append(Step("state", np.ones(7), axes=("hidden",), formula="h_t = tanh(x)"))
    return Trace(steps)


def shown(trace: Trace, everything: bool = False) -> str:
    file = io.StringIO()
    print_recurrent_step(RecurrentStepView(trace, make_console(file), everything))
    return file.getvalue()


def test_every_step_has_its_number_and_the_table_its_columns() -> None:
    text = shown(step_of(3, raised=True))
    titles = re.findall(r"(?m)^(\d)  (\w[\w ]*?)   ", text)
    assert titles == [
        ("1", "Word"),
        ("2", "Scores"),
        ("3", "Raised"),
        ("4", "Weights"),
        ("5", "Weighted values"),
        ("6", "State"),
    ]
    rows = re.findall(r"(?m)^   (w\d) +([\d.]+) +([\d.]+) +([\d.]+) ", text)
    assert rows == [
        ("w0", "0.000", "2.000", "0.2500"),
        ("w1", "1.000", "3.000", "0.2500"),
        ("w2", "2.000", "4.000", "0.5000"),
    ]
    assert "   h_t [1" in text
    assert "weights sum to 1.0000" in text


def test_many_words_are_counted_and_all_numbers_are_there_on_demand() -> None:
    text = shown(step_of(40))
    assert "and 16 more words; weights sum to 1.0000" in text
    full = shown(step_of(3), everything=True)
    assert "0.5000 v of w2 [3" in full


@pytest.mark.parametrize("columns", ["40", "60", "80", "120"])
def test_it_fits(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    lines = shown(step_of(5, raised=True)).splitlines()
    assert max(map(len, lines)) <= int(columns)


def test_an_empty_tape_has_no_table() -> None:
    trace = step_of(3)
    kept = [step for step in trace if step.name in ("word", "state")]
    assert "weights" not in shown(Trace(kept))
