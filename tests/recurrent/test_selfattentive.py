from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard import RegardError
from regard.recurrent import SelfAttentiveRNN
from tests.recurrent import reference
from tests.recurrent.readers import KINDS, reader, same


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("lstmn")])
@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("grad", [True, False])
def test_equals_the_equations_written_as_a_loop(kind: str, window: int | None, grad: bool) -> None:
    net, x = reader(kind, window=window), reference.random(2, 7, 3)
    p = reference.part(reference.numpy_of(net), "layers.0")
    with torch.set_grad_enabled(grad):
        read = net(x, need_weights=True)
    for b in range(2):
        states, contexts, weights = reference.self_attentive(p, x[b].numpy(), window)
        for got, wanted in (
            (read.output[b], states),
            (read.weights[0][b], weights),
            (read.state.summary[0, b], contexts[-1]),
        ):
            np.testing.assert_allclose(got.detach().numpy(), wanted, rtol=0, atol=1e-10)


def test_states_computed_by_hand() -> None:
    """Width 1, A = [1 1], b = 0, equal scores: c_t is the mean of h_1 … h_t."""
    net = SelfAttentiveRNN(1, 1, score="dot", batch_first=True).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.fill_(1)
        layer: Any = net.parts()[0]
        layer.inputs.bias.zero_()
        layer.w_query.zero_()
    h = [np.tanh(0.5)]
    h.append(np.tanh(1 + h[0]))  # c_1 = h_1
    h.append(np.tanh(-1 + (h[0] + h[1]) / 2))
    read = net(torch.tensor([[[0.5], [1], [-1]]], dtype=torch.float64), need_weights=True)
    np.testing.assert_allclose(read.output.detach().flatten(), h, rtol=0, atol=1e-12)
    third = torch.full((3,), 1 / 3, dtype=torch.float64)
    same(read.weights[0][0, 2], third)


def test_a_window_of_one_is_no_attention() -> None:
    net, plain = reader("xc dot", window=1), reader("xc dot", attention=False)
    plain.load_state_dict({name: net.state_dict()[name] for name in plain.state_dict()})
    x = reference.random(2, 7, 3)
    same(net(x).output, plain(x).output)


def test_what_cannot_be() -> None:
    with pytest.raises(RegardError, match="form is 'xc' or 'xch', got 'hc'"):
        SelfAttentiveRNN(3, 5, form="hc")  # type: ignore[arg-type]
    with pytest.raises(RegardError, match="score is 'additive' or 'dot', got 'cosine'"):
        SelfAttentiveRNN(3, 5, score="cosine")  # type: ignore[arg-type]
    with pytest.raises(RegardError, match="form='xch' needs attention"):
        SelfAttentiveRNN(3, 5, form="xch", attention=False)
    with pytest.raises(RegardError, match="attention=False has no weights to give"):
        SelfAttentiveRNN(3, 5, attention=False)(torch.zeros(4, 2, 3), need_weights=True)
