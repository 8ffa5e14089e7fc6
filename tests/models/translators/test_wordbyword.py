from __future__ import annotations

import numpy as np
import torch

from regard import record
from tests.models.batch import batch, model
from tests.recurrent import reference


def test_equals_the_equations_written_as_a_loop() -> None:
    made, b = model("word-by-word"), batch()
    p = reference.numpy_of(made)
    logits = made(*b[:3]).detach().numpy()
    for row, n in enumerate(b.source_lengths.tolist()):
        x = p["vocabulary.source_words"][b.source[row, :n].numpy()]
        states = reference.gated(reference.part(p, "reader"), x, np.zeros(7))
        for t in range(min(n, b.target.shape[1])):
            before = p["readout.parts.0.weight"] @ states[t] + p["readout.parts.0.bias"]
            before = before + p["readout.parts.1.weight"] @ x[t]
            features = np.maximum(before[:10], before[10:])
            expected = p["vocabulary.output_words"] @ features + p["vocabulary.bias"]
            np.testing.assert_allclose(logits[row, t], expected, rtol=0, atol=1e-10)


def test_no_look_ahead() -> None:
    made, b = model("word-by-word"), batch((5, 5, 5, 5))
    changed = b.source.clone()
    changed[:, 2:] = 9
    before, after = (made(s, b.source_lengths, b.target) for s in (b.source, changed))
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2:5], after[:, 2:5])


def test_it_looks_at_the_word_just_read_and_at_its_end_at_the_last() -> None:
    made, b = model("word-by-word"), batch()
    state = made.start(b.source, b.source_lengths)
    with record() as trace:
        steps = [made.step(state, b.target[:, 0]).weights for _ in range(6)]
    looks = torch.stack([w for w in steps if w is not None], 1)
    expected = torch.tensor([0, 1, 2, 2, 2, 2])  # a source of 3 tokens
    assert torch.equal(looks[2].argmax(-1), expected)
    assert torch.equal(looks[2].sum(-1), torch.ones(6, dtype=looks.dtype))
    assert trace["step 1/weights"].value.shape == (4, 1, 5)
