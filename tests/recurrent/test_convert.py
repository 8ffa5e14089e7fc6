"""Readers without attention are PyTorch's modules, there and back."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard import RegardError
from regard.recurrent import LSTMN, SelfAttentiveRNN, Tapes
from tests.recurrent import reference
from tests.recurrent.readers import same


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("bias", [True, False])
def test_without_attention_it_is_the_rnn_of_torch(layers: int, bias: bool) -> None:
    torch_rnn = nn.RNN(3, 5, layers, batch_first=True, bias=bias)
    x, first = torch.randn(2, 7, 3), torch.randn(layers, 2, 5)
    ours = SelfAttentiveRNN.from_torch(torch_rnn)
    for rnn in (torch_rnn, ours.to_torch()):
        for given, state in ((None, None), (first, Tapes.of(first))):
            output, last = rnn(x, given)
            read = ours(x, state)
            same(read.output, output, atol=1e-6)
            same(read.state.hidden[:, :, -1], last, atol=1e-6)


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
        assert isinstance(theirs.grad, torch.Tensor)
        same(mine.grad, theirs.grad)


def test_what_cannot_be_converted() -> None:
    with pytest.raises(RegardError, match=r"nn.LSTM has no attention: only a reader with"):
        LSTMN(3, 5).to_torch()
    for module in (nn.LSTM(3, 5, bidirectional=True), nn.LSTM(3, 5, proj_size=2)):
        with pytest.raises(RegardError, match="bidirectional or has proj_size cannot be converted"):
            LSTMN.from_torch(module)
    with pytest.raises(RegardError, match=r"nn.RNN has no attention: only a reader with"):
        SelfAttentiveRNN(3, 5).to_torch()
    with pytest.raises(RegardError, match="nonlinearity='relu'"):
        SelfAttentiveRNN.from_torch(nn.RNN(3, 5, nonlinearity="relu"))


def test_settings_are_converted_too() -> None:
    ours = LSTMN.from_torch(nn.LSTM(3, 5, 2, batch_first=True, dropout=0.25).eval())
    for made in (ours, ours.to_torch()):
        assert (made.batch_first, made.dropout, made.num_layers) == (True, 0.25, 2)
        assert not made.training
