"""The LSTM is PyTorch's; the LSTMN is the paper's, in a loop written out here."""

from __future__ import annotations

import numpy as np
import torch

from regard.worked.stages import compute
from tests.worked.cases import Numbers, generated


def sigmoid(x: Numbers) -> Numbers:
    made: Numbers = 1 / (1 + np.exp(-x))
    return made


def test_the_lstm_is_what_torch_computes() -> None:
    example = generated(("lstm", {}), 3)
    g = {name: torch.from_numpy(example.turned(name).copy()) for name in example.given}
    lstm = torch.nn.LSTM(2, 3, batch_first=True).double()
    weights = {
        "weight_ih_l0": torch.cat([g[f"w_{n}"][3:].T for n in "ifco"]),
        "weight_hh_l0": torch.cat([g[f"w_{n}"][:3].T for n in "ifco"]),
        "bias_ih_l0": torch.cat([g[f"b_{n}"] for n in "ifco"]),
    }
    lstm.load_state_dict({**weights, "bias_hh_l0": weights["bias_ih_l0"] * 0})
    with torch.no_grad():
        states, (_, cell) = lstm(g["x"][None], (g["h_0"][None, None], g["c_0"][None, None]))
    trace = compute(example)
    np.testing.assert_allclose(trace.value("states"), states[0], rtol=1e-12)
    np.testing.assert_allclose(trace.value("step 3/cell"), cell[0, 0], rtol=1e-12)


def test_the_lstmn_is_the_papers() -> None:
    example = generated(("lstmn", {}), 4)
    g = {name: example.turned(name) for name in example.given}
    trace = compute(example)
    h_, c_ = np.zeros(3), np.zeros(3)
    hs, cs = list[Numbers](), list[Numbers]()
    for t, x in enumerate(g["x"]):
        at = f"step {t + 1}"
        if hs:
            scores = [g["v"] @ np.tanh(h @ g["w_h"] + x @ g["w_x"] + h_ @ g["w_tilde"]) for h in hs]
            a = np.exp(scores) / np.exp(scores).sum()
            h_, c_ = a @ np.array(hs), a @ np.array(cs)
            np.testing.assert_allclose(trace.value(f"{at}/weights"), a, rtol=1e-12)
            np.testing.assert_allclose(trace.value(f"{at}/context"), [*h_, *c_], rtol=1e-12)
        read = np.concatenate((h_, x))
        i, f, o = (sigmoid(read @ g[f"w_{n}"] + g[f"b_{n}"]) for n in "ifo")
        new = np.tanh(read @ g["w_c"] + g["b_c"])
        c = f * c_ + i * new
        hs.append(o * np.tanh(c))
        cs.append(c)
        np.testing.assert_allclose(trace.value(f"{at}/forget gate"), f, rtol=1e-12)
        np.testing.assert_allclose(trace.value(f"{at}/cell"), c, rtol=1e-12)
    np.testing.assert_allclose(trace.value("states"), hs, rtol=1e-12)
