"""The steps of one word, from a trace of numbers that can be checked by hand."""

from __future__ import annotations

import re

import pytest
import torch

import regard
from regard.trace import Trace
from regard.views.terminal.steps import print_steps
from tests.views.terminal.consoles import console, printed


def shown(trace: Trace, **options: tuple[str, ...]) -> str:
    to = console()
    print_steps(trace, 1, to, **options)  # type: ignore[arg-type]
    return printed(to)


@pytest.fixture(scope="module")
def trace() -> Trace:
    x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    with regard.record("simple", ["a", "b\x1b", "c"]) as noted:
        regard.self_attention(x)
    return noted


def test_every_step_has_its_numbers(trace: Trace) -> None:
    text = shown(trace)
    assert text.startswith("Simple self-attention (no weight matrices)")
    assert r"What does 'b\\x1b' take from each word?" in text
    titles = [int(found) for found in re.findall(r"(?m)^(\d)  [A-Z]", text)]
    assert titles == sorted(titles)
    assert "This mechanism does not scale its scores." in text
    # b = [0, 2]: scores 0, 4, 2 with a, b and c; e^0 / (e^0 + e^4 + e^2) = 0.0159
    for number in ("0.0159", "0.8668", "0.1173"):
        assert number in text


def test_the_forms(trace: Trace) -> None:
    vector, matrix = (shown(trace, forms=(form,)) for form in ("vector", "matrix"))
    assert r"q of b\x1b = [" in vector
    assert r"q of b\x1b = [" not in matrix
    assert "X" in matrix


def test_lines_fit(trace: Trace) -> None:
    assert max(len(line.rstrip()) for line in shown(trace).splitlines()) <= 80
