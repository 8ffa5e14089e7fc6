from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard import record
from regard.models.translators.lstmn import LSTMNState
from tests.models.batch import batch, model
from tests.recurrent import reference

DESIGNS = pytest.mark.parametrize("name", ["lstmn-shallow", "lstmn-deep"])


@DESIGNS
def test_equals_the_papers_equations_written_as_a_loop(name: str) -> None:
    made, b = model(name), batch()
    p = reference.numpy_of(made)
    logits = made(*b[:3]).detach().numpy()
    encoder, decoder = reference.part(p, "encoder.layers.0"), reference.part(p, "decoder")
    for row, n in enumerate(b.source_lengths.tolist()):
        x = p["vocabulary.source_words"][b.source[row, :n].numpy()]
        states, cells, _, _ = reference.lstmn(encoder, x)
        source = list(zip(states, cells, strict=True))
        y = p["vocabulary.target_words"][b.target[row].numpy()]
        h, found, _ = reference.fusion(decoder, y, source, deep=name == "lstmn-deep")
        before = h @ p["readout.parts.0.weight"].T + p["readout.parts.0.bias"]
        before += y @ p["readout.parts.1.weight"].T + found @ p["readout.parts.2.weight"].T
        features = np.maximum(before[:, :10], before[:, 10:])
        expected = features @ p["vocabulary.output_words"].T + p["vocabulary.bias"]
        np.testing.assert_allclose(logits[row], expected, rtol=0, atol=1e-10)


@DESIGNS
def test_recording_changes_nothing_and_shows_both_attentions(name: str) -> None:
    made, b = model(name), batch()
    fast = made(*b[:3])
    gradients = torch.autograd.grad(fast.square().sum(), list(made.parameters()))
    with record() as trace:
        explained = made(*b[:3])
        expected = torch.autograd.grad(explained.square().sum(), list(made.parameters()))
    torch.testing.assert_close(fast, explained, rtol=0, atol=1e-10)
    for got, wanted in zip(gradients, expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-8, atol=1e-9)
    assert trace["alignment"].value.shape == (4, 6, 5)
    np.testing.assert_allclose(
        trace["alignment"].value[:, 1],
        trace["decoder/step 1/inter-attention/weights"].value[:, 0],
    )
    assert "encoder/layer 0/attention" in trace
    assert "decoder/step 1/intra-attention/weights" in trace


@DESIGNS
def test_beams_share_the_source(name: str) -> None:
    """W_g g_j is computed in start, once for a sentence."""
    made, b = model(name), batch()
    state = made.start(b.source, b.source_lengths)
    assert isinstance(state, LSTMNState)
    keys = state.source.keys
    decoder: Any = made.decoder
    torch.testing.assert_close(keys, state.source.tapes[..., :7] @ decoder.w_source.t())
    state.select(torch.arange(4).unsqueeze(-1).expand(-1, 5))
    made.step(state, b.target[:, 0].repeat_interleave(5))
    assert state.source.keys is keys
    assert state.written.tapes.shape == (20, 2, 14)
