"""What a trace becomes on a page."""

from __future__ import annotations

import numpy as np
import torch

import regard
from regard.attention import MultiHeadAttention, causal, window
from regard.recurrent import SelfAttentiveRNN
from regard.trace import Step, Trace
from regard.views.page import subject_of_trace


def test_dot_products_are_carried_as_vectors() -> None:
    torch.manual_seed(0)
    with regard.record(tokens=list("abcde")) as trace:
        MultiHeadAttention(14, 2, key_heads=1)(torch.randn(1, 5, 14), mask=causal())
    (sheet,) = subject_of_trace(trace).sheets
    assert sheet.weights is None
    assert sheet.query is not None
    assert sheet.query.shape == (2, 5, 7)
    assert sheet.key is not None
    assert sheet.key.shape == (1, 5, 7)
    assert sheet.scale == 7**-0.5
    assert sheet.causal
    assert sheet.allowed is None
    assert set(sheet.known) == {"input", "output"}
    assert sheet.known["output"].after


def test_a_mask_that_is_no_rule_is_carried_whole() -> None:
    with regard.record() as trace:
        regard.self_attention(torch.randn(6, 3), mask=window(1))
    (sheet,) = subject_of_trace(trace).sheets
    assert sheet.scale == 1.0
    assert sheet.allowed is not None
    assert sheet.allowed.sum() == 16
    assert not sheet.causal


def test_a_scale_that_is_not_the_usual_one() -> None:
    q = np.array([[1.0, 2.0], [3.0, 4.0]])
    steps = [
        Step("queries", q, axes=("query", "width")),
        Step("keys", q, axes=("key", "width")),
        Step("scores", q @ q.T, axes=("query", "key")),
        Step("scaled", q @ q.T / 2, axes=("query", "key")),
        Step("weights", np.full((2, 2), 0.5), axes=("query", "key")),
    ]
    (sheet,) = subject_of_trace(Trace(steps)).sheets
    assert sheet.scale == 0.5
    steps[2] = Step("scores", q, axes=("query", "key"))
    (sheet,) = subject_of_trace(Trace(steps)).sheets
    assert sheet.weights is not None, "scores that are no dot products: the weights are carried"


def test_rows_of_a_recurrent_network_are_one_matrix_with_its_tape() -> None:
    torch.manual_seed(0)
    with regard.record(tokens=list("abcd")) as trace:
        SelfAttentiveRNN(3, 5, num_layers=2, batch_first=True)(torch.randn(1, 4, 3))
    sheets = subject_of_trace(trace).sheets
    assert [sheet.number for sheet in sheets] == [0, 1]
    for sheet in sheets:
        assert sheet.recurrent
        assert sheet.weights is not None
        assert sheet.value is not None
        assert sheet.context is not None
        np.testing.assert_allclose(
            np.einsum("hij,hjw->hiw", sheet.weights, sheet.value), sheet.context, atol=1e-6
        )
