"""Fit: parts that do not fit together are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import ExampleError
from regard.worked.fit import check_fit, keys_of, queries_of
from regard.worked.parts import Parts
from tests.worked.written import load


def test_how_many_queries_and_keys_there_are() -> None:
    given = {"scores": np.ones((2, 7))}
    assert (queries_of("scaled", given), keys_of("scaled", given)) == (2, 7)
    assert (queries_of("scaled", {}), keys_of("scaled", {})) == (0, 0)


@pytest.mark.parametrize(
    ("mechanism", "shapes", "said"),
    [
        ("simple", {"x": (3, 2), "w_q": (2, 2)}, "simple self-attention has no weight matrices"),
        ("dot", {"x": (3, 2), "v_a": (2,)}, "mechanism 'dot' has no v_a; it takes"),
        ("scaled", {"x": (3, 2)}, "mechanism 'scaled' needs w_q, w_k and, for the values, w_v"),
    ],
)
def test_what_does_not_fit(mechanism: str, shapes: dict[str, tuple[int, ...]], said: str) -> None:
    given = {name: np.ones(shape) for name, shape in shapes.items()}
    with pytest.raises(ExampleError, match=said):
        check_fit(Parts(mechanism, ["a", "b", "c"], given))


RNN = 'mechanism = "simple-rnn"\nx = [[1, 0]]\n'
ATTENTIVE = 'mechanism = "simple-rnn+attention"\nx = [[1, 0]]\na = [[1, 0, 1]]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (RNN, "mechanism 'simple-rnn' needs x and a; a is missing"),
        (RNN + "a = [[1, 0]]", "a must have 2 (width) + 1 (hidden) = 3 inputs, got 1 x 2"),
        (RNN + "a = [[1, 0, 1]]\nb = [1, 2]", "b must have 1 along the axis 'hidden', as a has"),
        (RNN + "a = [[1, 0, 1]]\nw_q = [[1]]", "mechanism 'simple-rnn' has no w_q; it takes x, a"),
        (RNN + "a = [[1, 0, 1]]\nh0 = [1]", "line 4: unknown key 'h0'; did you mean 'h_0'?"),
        (RNN + "a = [[1, 0, 1]]\nheads = 2", "line 4: mechanism 'simple-rnn' has no heads"),
        (ATTENTIVE + "align = 'dot'", "needs x, a, w_k and w_q; w_k is missing"),
        (
            ATTENTIVE + "align = 'dot'\nw = [[1, 1]]\nv = [1]",
            'w goes with align = "additive", and here align is "dot": drop w, or change align',
        ),
        (
            ATTENTIVE + "form = 'xhc'",
            "form must be one of xc, xch, got 'xhc'; did you mean 'xc' or 'xch'?",
        ),
        (
            'mechanism = "softmax"\nscores = [[1]]\ntemperature = 0',
            "must be a number above 0, got 0",
        ),
        (
            'mechanism = "softmax"\nscores = [[1]]\nd_k = 4',
            "mechanism 'softmax' has no d_k; it has mask, temperature",
        ),
        (
            'mechanism = "concat"\ns = [[1]]\nh = [[1]]\nw_a = [[1]]\nv_a = [1]',
            "w_a must have 1 (width) + 1 (memory width) = 2 inputs, got 1 x 1",
        ),
    ],
)
def test_other_mechanisms_say_what_does_not_fit(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ExampleError) as error:
        load(tmp_path, text)
    assert words in str(error.value)


def test_an_option_shows_in_what_goes_with_it(tmp_path: Path) -> None:
    example = load(tmp_path, ATTENTIVE + "w_k = [[1]]\nw_q = [[1]]")
    assert example.option("align") == "dot"
    assert example.layout == "rows-are-outputs"
    turned = load(tmp_path, RNN + "a = [[1], [0], [1]]")
    assert turned.layout == "columns-are-outputs"
