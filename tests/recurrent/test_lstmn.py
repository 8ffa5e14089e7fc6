from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from regard import RegardError
from regard.recurrent import LSTMN, Tapes
from tests.recurrent import reference
from tests.recurrent.readers import reader, same


@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("grad", [True, False])
def test_equals_the_equations_written_as_a_loop(window: int | None, grad: bool) -> None:
    net, x = reader("lstmn", window=window), reference.random(2, 7, 3)
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
        net.layers[0].inputs.bias[2] = 1
    c = [math.tanh(1) / 2]
    c.append(c[0] / 2 + math.tanh(1) / 2)
    c.append((c[0] + c[1]) / 4 + math.tanh(1) / 2)
    read = net(torch.zeros(1, 3, 1, dtype=torch.float64), need_weights=True)
    np.testing.assert_allclose(
        read.output.detach().flatten(), [math.tanh(cell) / 2 for cell in c], rtol=0, atol=1e-12
    )
    same(read.weights[0][0], torch.tensor([[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0]]).double())


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bias", [True, False])
def test_without_attention_it_is_the_lstm_of_torch(layers: int, bias: bool) -> None:
    torch_lstm = nn.LSTM(3, 5, layers, batch_first=True, bias=bias)
    x, first = torch.randn(2, 7, 3), torch.randn(2, layers, 2, 5)
    ours = LSTMN.from_torch(torch_lstm)
    for lstm in (torch_lstm, ours.to_torch()):
        for given, state in ((None, None), (tuple(first), Tapes.of(*first))):
            output, (h, c) = lstm(x, given)
            read = ours(x, state)
            assert read.state.cells is not None
            same(read.output, output, atol=1e-6)
            same(read.state.hidden[:, :, -1], h, atol=1e-6)
            same(read.state.cells[:, :, -1], c, atol=1e-6)


def test_without_attention_the_gradients_are_those_of_torch() -> None:
    lstm = nn.LSTM(3, 5, batch_first=True).double()
    ours, x = LSTMN.from_torch(lstm), reference.random(2, 7, 3)
    lstm(x)[0].square().sum().backward()
    ours(x).output.square().sum().backward()
    layer = ours.parts()[0]
    for mine, theirs in (
        (layer.inputs.weight, lstm.weight_ih_l0),
        (layer.recurrent, lstm.weight_hh_l0),
        (layer.inputs.bias, lstm.bias_ih_l0),
    ):
        assert mine.grad is not None
        assert theirs.grad is not None
        same(mine.grad, theirs.grad)


def test_a_window_of_one_is_no_attention() -> None:
    net, plain = reader("lstmn", window=1), reader("lstmn", attention=False)
    plain.load_state_dict({name: net.state_dict()[name] for name in plain.state_dict()})
    x = reference.random(2, 7, 3)
    same(net(x).output, plain(x).output)


def test_what_cannot_be() -> None:
    with pytest.raises(RegardError, match=r"nn.LSTM has no attention: only a reader with"):
        LSTMN(3, 5).to_torch()
    for module in (nn.LSTM(3, 5, bidirectional=True), nn.LSTM(3, 5, proj_size=2)):
        with pytest.raises(RegardError, match="bidirectional or has proj_size cannot be converted"):
            LSTMN.from_torch(module)
