from __future__ import annotations

import numpy as np
import pytest
import torch

from regard import RegardError, record
from regard.recurrent import SimpleRNN
from tests.recurrent import reference


def test_equals_the_equation_written_as_a_loop() -> None:
    rnn = SimpleRNN(3, 5).double()
    torch.nn.init.normal_(rnn.inputs.bias)
    x = reference.random(2, 7, 3)
    p = reference.numpy_of(rnn)
    A = np.hstack((p["inputs.weight"], p["recurrent"]))
    for row, states in zip(x.numpy(), rnn(x).detach().numpy(), strict=True):
        np.testing.assert_allclose(
            states, reference.simple(row, A, p["inputs.bias"]), rtol=0, atol=1e-10
        )


def test_a_state_computed_by_hand() -> None:
    """h_1 = tanh(2·1 + 0.5), h_2 = tanh(2·0 + 3 h_1 + 0.5)."""
    rnn = SimpleRNN(1, 1).double()
    with torch.no_grad():
        rnn.inputs.weight.fill_(2)
        rnn.inputs.bias.fill_(0.5)
        rnn.recurrent.fill_(3)
    states = rnn(torch.tensor([[[1.0], [0.0]]], dtype=torch.float64)).flatten().tolist()
    first = np.tanh(2.5)
    np.testing.assert_allclose(states, [first, np.tanh(3 * first + 0.5)], atol=1e-12)


def test_goes_on_from_a_given_state() -> None:
    rnn = SimpleRNN(3, 5).double()
    x = reference.random(2, 7, 3)
    whole = rnn(x)
    rest = rnn(x[:, 4:], whole[:, 3])
    torch.testing.assert_close(rest, whole[:, 4:], rtol=0, atol=1e-12)


def test_an_empty_sequence_has_no_states() -> None:
    assert SimpleRNN(3, 5)(torch.zeros(2, 0, 3)).shape == (2, 0, 5)


def test_record_shows_the_states() -> None:
    rnn = SimpleRNN(3, 5)
    with record() as trace:
        states = rnn(torch.ones(1, 7, 3))
    assert trace["states"].axes == ("batch", "position", "hidden")
    np.testing.assert_array_equal(trace["states"].value, states.detach().numpy())


@pytest.mark.parametrize(
    ("x", "state", "text"),
    [
        ((2, 4, 5), None, "the input must be (batch, n, width) with width 3, got (2, 4, 5)"),
        ((2, 3), None, "the input must be (batch, n, width) with width 3, got (2, 3)"),
        ((2, 4, 3), torch.zeros(7, 2), "the first state must be (2, 7) here, got (7, 2)"),
        (
            (2, 4, 3),
            torch.zeros(2, 7, device="meta"),
            "the first state must have the input's dtype and device, torch.float32 on cpu, got "
            "torch.float32 on meta; move it with .to(…)",
        ),
    ],
)
def test_what_cannot_be_read(x: tuple[int, ...], state: torch.Tensor | None, text: str) -> None:
    with pytest.raises(RegardError) as caught:
        SimpleRNN(3, 7)(torch.zeros(x), state)
    assert str(caught.value) == text
