"""The simple RNN with attention, both forms and both aligns, against loops written out here."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from regard.worked.stages import compute
from tests.worked.cases import Numbers, generated


def softmax(scores: Numbers) -> Numbers:
    raised = np.exp(scores)
    made: Numbers = raised / raised.sum()
    return made


@pytest.mark.parametrize(("form", "align"), list(product(("xc", "xch"), ("additive", "dot"))))
def test_it_is_the_formula_of_the_slides(form: str, align: str) -> None:
    example = generated(("simple-rnn+attention", {"form": form, "align": align}), 2)
    g = {name: example.turned(name) for name in example.given}
    h, c, states = np.zeros(3), np.zeros(3), []
    trace = compute(example)
    for t, x in enumerate(g["x"]):
        read = [x, c] if form == "xc" else [x, c, h]
        h = np.tanh(np.concatenate(read) @ g["a"] + g["b"])
        states.append(h)
        if align == "additive":
            scores = [np.tanh(np.concatenate((old, h)) @ g["w"]) @ g["v"] for old in states]
        else:
            scores = [(old @ g["w_k"]) @ (h @ g["w_q"]) for old in states]
        a = softmax(np.array(scores))
        c = a @ np.array(states)
        np.testing.assert_allclose(trace.value(f"step {t + 1}/scores"), scores, rtol=1e-12)
        np.testing.assert_allclose(trace.value("attention")[t, : t + 1], a, rtol=1e-12)
        np.testing.assert_allclose(trace.value(f"step {t + 1}/context"), c, rtol=1e-12)
    np.testing.assert_allclose(trace.value("states"), states, rtol=1e-12)
