from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regard.errors import ConfigError
from regard.record import record
from regard.recurrent import LSTMN
from tests.recurrent import reference
from tests.recurrent.readers import reader, same


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("kind", ["lstmn", "lstmn with recency"])
def test_equals_the_equations_written_as_a_loop(kind: str, window: int | None, grad: bool) -> None:
    net, x = reader(kind, window=window), reference.random(2, 7, 3)
    p = reference.part(reference.numpy_of(net), "layers.0")
    with torch.set_grad_enabled(grad):
        read = net(x, need_weights=True)
    kept = slice(None if window is None else -window, None)
    assert read.state.cells is not None
    for b in range(2):
        states, cells, recalled, weights = reference.lstmn(p, x[b].numpy(), window)
        for got, wanted in (
            (read.output[b], states),
            (read.weights[0][b], weights),
            (read.state.hidden[0, b], states[kept]),
            (read.state.cells[0, b], cells[kept]),
            (read.state.summary[0, b], recalled[-1]),
        ):
            np.testing.assert_allclose(got.detach().numpy(), wanted, rtol=0, atol=1e-10)


def test_states_computed_by_hand() -> None:
    """All weights 0: each gate is 1/2 and c^ = tanh(b), here b = 1; equal scores give the mean."""
    net = LSTMN(1, 1, batch_first=True).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
        net.parts()[0].inputs.bias[2] = 1
    c = [math.tanh(1) / 2]
    c.append(c[0] / 2 + math.tanh(1) / 2)
    c.append((c[0] + c[1]) / 4 + math.tanh(1) / 2)
    read = net(torch.zeros(1, 3, 1, dtype=torch.float64), need_weights=True)
    np.testing.assert_allclose(
        read.output.detach().flatten(), [math.tanh(cell) / 2 for cell in c], rtol=0, atol=1e-12
    )
    same(read.weights[0][0], torch.tensor([[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0]]).double())


def test_recency_by_hand() -> None:
    """All else 0: the newest word's score is log 3, any other's 0."""
    net = LSTMN(1, 1, recency=math.log(3), batch_first=True)
    for parameter in net.parameters():
        if parameter is not net.parts()[0].recency:
            torch.nn.init.zeros_(parameter)
    weights = net(torch.zeros(1, 3, 1), need_weights=True).weights[0][0]
    same(weights, torch.tensor([[0, 0, 0], [1, 0, 0], [0.25, 0.75, 0]]), atol=1e-6)
    with record() as trace:
        net(torch.zeros(1, 3, 1))
    assert trace["layer 0/step 3/scores"].value.tolist() == [[[0, 0]]]
    raised = trace["layer 0/step 3/raised"].value[0, 0]
    assert raised.tolist() == pytest.approx([0, math.log(3)])


def test_what_is_recalled_is_said_by_its_formula() -> None:
    for attention, formula in ((True, "h~_t = sum_i a[t,i] h_i"), (False, "h~_t = h_{t-1}")):
        with record() as trace:
            LSTMN(2, 3, attention=attention)(torch.zeros(1, 1, 2))
        assert trace["recalled state"].formula == formula


def test_a_high_recency_is_the_lstm() -> None:
    net, plain = reader("lstmn", recency=0.0), reader("lstmn", attention=False)
    plain.load_state_dict({name: net.state_dict()[name] for name in plain.state_dict()})
    net.load_state_dict({**net.state_dict(), "layers.0.recency": torch.tensor([80.0])})
    x = reference.random(2, 7, 3)
    same(net(x).output, plain(x).output)


def test_recency_needs_attention() -> None:
    with pytest.raises(ConfigError, match=r"no word is newer .* leave recency out"):
        LSTMN(3, 5, recency=6, attention=False)


def test_a_window_of_one_is_no_attention() -> None:
    net, plain = reader("lstmn", window=1), reader("lstmn", attention=False)
    plain.load_state_dict({name: net.state_dict()[name] for name in plain.state_dict()})
    x = reference.random(2, 7, 3)
    same(net(x).output, plain(x).output)
