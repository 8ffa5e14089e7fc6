"""One step of Bahdanau's decoder, against the paper's formulas written out."""

from __future__ import annotations

import numpy as np

from regard.worked.stages import compute
from tests.worked.cases import Numbers, generated


def sigmoid(x: Numbers) -> Numbers:
    made: Numbers = 1 / (1 + np.exp(-x))
    return made


def test_it_is_the_papers() -> None:
    example = generated(("encoder-decoder", {"readout": "maxout"}), 1)
    g, trace = {name: example.turned(name) for name in example.given}, compute(example)
    for i, (s, y) in enumerate(zip(g["s"], g["y"], strict=True)):
        scores = [g["v_a"] @ np.tanh(s @ g["w_a"] + h @ g["u_a"]) for h in g["h"]]
        a = np.exp(scores) / np.exp(scores).sum()
        c = a @ g["h"]
        z, r = (
            sigmoid(y @ g[f"w_{n}"] + s @ g[f"u_{n}"] + c @ g[f"c_{n}"] + g[f"b_{n}"]) for n in "zr"
        )
        new = np.tanh(y @ g["w"] + (r * s) @ g["u"] + c @ g["c"] + g["b"])
        readout = s @ g["u_o"] + y @ g["v_o"] + c @ g["c_o"]
        for step, expected in (
            ("weights", a),
            ("context", c),
            ("update gate", z),
            ("candidate", new),
            ("state", (1 - z) * s + z * new),
            ("readout", readout.reshape(-1, 2).max(-1)),
        ):
            np.testing.assert_allclose(trace.value(step)[i], expected, rtol=1e-12, err_msg=step)
