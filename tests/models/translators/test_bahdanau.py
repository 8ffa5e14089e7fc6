from __future__ import annotations

import numpy as np
import torch

from regard import record
from regard.models.translators.bahdanau import Bahdanau, BahdanauState
from tests.models.batch import batch, model
from tests.recurrent import reference


def test_equals_the_papers_equations_written_as_a_loop() -> None:
    made, b = model("bahdanau"), batch()
    p = reference.numpy_of(made)
    logits = made(*b[:3]).detach().numpy()
    zero = np.zeros(7)
    for row, n in enumerate(b.source_lengths.tolist()):
        x = p["vocabulary.source_words"][b.source[row, :n].numpy()]
        forwards = reference.gated(reference.part(p, "encoder.forwards"), x, zero)
        backwards = reference.gated(reference.part(p, "encoder.backwards"), x[::-1], zero)[::-1]
        h = np.hstack((forwards, backwards))
        s = np.tanh(p["first.weight"] @ backwards[0] + p["first.bias"])
        for t, token in enumerate(b.target[row].tolist()):
            y = p["vocabulary.target_words"][token]
            e = np.array(
                [
                    p["alignment.v"]
                    @ np.tanh(p["alignment.w_query"] @ s + p["alignment.w_key"] @ h_j)
                    for h_j in h
                ]
            )
            a = np.exp(e) / np.exp(e).sum()
            c = a @ h
            before = p["readout.parts.0.weight"] @ s + p["readout.parts.0.bias"]
            before = before + p["readout.parts.1.weight"] @ y + p["readout.parts.2.weight"] @ c
            features = np.maximum(before[:10], before[10:])
            expected = p["vocabulary.output_words"] @ features + p["vocabulary.bias"]
            np.testing.assert_allclose(logits[row, t], expected, rtol=0, atol=1e-10)
            s = reference.gated_step(reference.part(p, "decoder"), y, s, c)


def test_the_explained_path_computes_what_the_fast_one_does() -> None:
    made, b = model("bahdanau"), batch()
    fast = made(*b[:3])
    gradients = torch.autograd.grad(fast.square().sum(), list(made.parameters()))
    with record() as trace:
        explained = made(*b[:3])
        expected = torch.autograd.grad(explained.square().sum(), list(made.parameters()))
    torch.testing.assert_close(fast, explained, rtol=0, atol=1e-10)
    for got, wanted in zip(gradients, expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-8, atol=1e-9)
    assert trace["alignment"].value.shape == (4, 6, 5)


def test_record_shows_every_step_of_the_attention() -> None:
    made, b = model("bahdanau"), batch((5,), (3,))
    with record() as trace:
        made(*b[:3])
    second = [step.name for step in trace if step.scope == "step 1"]
    assert second[:5] == ["scores", "weights", "values", "weighted_values", "context"]
    assert second[5:] == ["update gate", "reset gate", "candidate", "state"]
    assert trace["step 1/weights"].axes == ("batch", "query", "key")
    np.testing.assert_allclose(trace["alignment"].value[:, 1], trace["step 1/weights"].value[:, 0])
    with record() as padded:
        made(*batch()[:3])
    assert "step 0/mask" in padded


def test_record_shows_decoding_too() -> None:
    made, b = model("bahdanau"), batch()
    with record() as trace:
        state = made.start(b.source, b.source_lengths)
        step = made.step(state, b.target[:, 0])
    assert step.weights is not None
    np.testing.assert_array_equal(
        trace["step 0/weights"].value[:, 0], step.weights.detach().numpy()
    )


def test_the_source_is_projected_once_a_sentence() -> None:
    """U_a h_j is computed in start, and beams share it."""
    made, b = model("bahdanau"), batch()
    state = made.start(b.source, b.source_lengths)
    assert isinstance(made, Bahdanau)
    assert isinstance(state, BahdanauState)
    keys = state.memory.keys
    torch.testing.assert_close(keys, state.memory.annotations @ made.alignment.w_key.t())
    state.select(torch.arange(4).unsqueeze(-1).expand(-1, 5))
    made.step(state, b.target[:, 0].repeat_interleave(5))
    assert state.memory.keys is keys
