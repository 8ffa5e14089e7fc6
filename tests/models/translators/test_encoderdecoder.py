from __future__ import annotations

import numpy as np
import torch

from regard import record
from regard.models.translators.encoderdecoder import EncoderDecoder
from tests.models.batch import batch, model
from tests.recurrent import reference


def test_equals_the_equations_written_as_a_loop() -> None:
    """c = tanh(V h_N), s_0 = tanh(V' c), c in every step and gate, maxout of (s_i, E y, c)."""
    made, b = model("encoder-decoder"), batch()
    p = reference.numpy_of(made)
    logits = made(*b[:3]).detach().numpy()
    for row, n in enumerate(b.source_lengths.tolist()):
        x = p["vocabulary.source_words"][b.source[row, :n].numpy()]
        last = reference.gated(reference.part(p, "encoder"), x, np.zeros(7))[-1]
        c = np.tanh(p["summary.weight"] @ last + p["summary.bias"])
        s = np.tanh(p["first.weight"] @ c + p["first.bias"])
        for t, token in enumerate(b.target[row].tolist()):
            y = p["vocabulary.target_words"][token]
            s = reference.gated_step(reference.part(p, "decoder"), y, s, c)
            before = p["readout.parts.0.weight"] @ s + p["readout.parts.0.bias"]
            before = before + p["readout.parts.1.weight"] @ y + p["readout.parts.2.weight"] @ c
            features = np.maximum(before[:10], before[10:])
            expected = p["vocabulary.output_words"] @ features + p["vocabulary.bias"]
            np.testing.assert_allclose(logits[row, t], expected, rtol=0, atol=1e-10)


def test_all_that_the_decoder_knows_of_the_source_is_one_vector() -> None:
    made, b = model("encoder-decoder"), batch()
    assert isinstance(made, EncoderDecoder)
    context = made.encode(b.source, b.source_lengths)
    assert context.shape == (4, 7)
    made.encode = lambda source, lengths: context  # type: ignore[method-assign]
    other = torch.full_like(b.source, 9)
    assert torch.equal(made(*b[:3]), made(other, b.source_lengths, b.target))


def test_record_shows_the_one_vector() -> None:
    made, b = model("encoder-decoder"), batch()
    with record() as trace:
        made(*b[:3])
    assert trace["context"].value.shape == (4, 7)
    assert [step.path for step in trace if step.name == "states"] == [
        "encoder/states",
        "decoder/states",
    ]
