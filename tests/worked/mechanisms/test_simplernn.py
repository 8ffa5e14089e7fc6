"""The simple RNN of a worked example is PyTorch's, and its slips are told."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch

from regard.worked.check import check
from regard.worked.stages import compute
from tests.worked.cases import generated
from tests.worked.written import load


def test_it_is_what_torch_computes() -> None:
    example = generated(("simple-rnn", {}), 1)
    width = example.given["x"].shape[1]
    rnn = torch.nn.RNN(width, 3, batch_first=True).double()
    a = torch.from_numpy(example.turned("a"))
    b = torch.from_numpy(example.given["b"])
    rnn.load_state_dict(
        {
            "weight_ih_l0": a[:width].T,
            "weight_hh_l0": a[width:].T,
            "bias_ih_l0": b,
            "bias_hh_l0": b * 0,
        }
    )
    with torch.no_grad():
        h_0 = torch.from_numpy(example.given["h_0"])[None, None]
        states, _ = rnn(torch.from_numpy(example.given["x"])[None], h_0)
    trace = compute(example)
    np.testing.assert_allclose(trace.value("states"), states[0], rtol=1e-12)
    np.testing.assert_array_equal(trace.value("step 2/state"), trace.value("states")[1])


TEXT = """
mechanism = "simple-rnn"
x = [[1, 0], [0, 1]]
a = [[0.5, 0.25, 1]]          # one state: rows are outputs, [x_1, x_2, h]
b = [0.25]
[claims]
"""


def test_a_state_by_hand(tmp_path: Path) -> None:
    first = math.tanh(0.5 + 0.25)
    second = math.tanh(0.25 + first + 0.25)
    report = check(load(tmp_path, TEXT + f"states = [[{first:.4f}], [{second:.4f}]]"))
    assert report.ok
    assert report.right == 2
    wrong = check(load(tmp_path, TEXT + f"states = [[0.7], [{math.tanh(1.2):.4f}]]")).wrong
    assert [(w.index, w.carried) for w in wrong] == [((0, 0), False), ((1, 0), True)]


def test_a_sigmoid_for_tanh_in_one_row(tmp_path: Path) -> None:
    first = math.tanh(0.75)
    sigmoid = 1 / (1 + math.exp(-(0.5 + first)))
    text = f"states = [[{first:.5f}], [{sigmoid:.5f}]]"
    (wrong,) = check(load(tmp_path, TEXT + text)).wrong
    assert wrong.slip == "a sigmoid is taken for tanh"
