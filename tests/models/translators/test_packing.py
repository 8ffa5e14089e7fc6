"""Maps in the kernel's order. What is computed with them: test_native.py."""

from __future__ import annotations

import torch

from regard.models.translators.packing import (
    linear_map,
    readout_maps,
    step_maps,
    unit_weights,
    word_tables,
)
from tests.models.batch import model

WIDTH, HIDDEN, UNITS = 10, 7, 10


def test_gates_then_readout_then_candidate() -> None:
    made = model("bahdanau")
    unit = made.get_submodule("decoder")
    of_state, of_word, of_context = readout_maps(made.get_submodule("readout"))  # type: ignore[arg-type]
    gates, readout, candidate = step_maps(unit, unit.inputs, of_word)  # type: ignore[arg-type]
    assert readout is of_word
    assert of_state[1] is not None
    assert of_word[1] is None
    weight, bias = linear_map(unit.inputs)  # type: ignore[arg-type]
    assert torch.equal(torch.cat((gates[0], candidate[0])), weight)
    assert gates[0].shape == (2 * HIDDEN, WIDTH)
    assert gates[1] is not None
    assert candidate[1] is not None
    assert bias is not None
    assert torch.equal(torch.cat((gates[1], candidate[1])), bias)
    (first, _), _, (last, nothing) = step_maps(unit, unit.context, of_context)  # type: ignore[arg-type]
    assert (first.shape, last.shape) == ((2 * HIDDEN, 2 * HIDDEN), (HIDDEN, 2 * HIDDEN))
    assert nothing is None
    assert unit_weights(unit).gates is unit.gates  # type: ignore[arg-type]


def test_words_that_are_tied_are_copied_once() -> None:
    source, target = word_tables(model("bahdanau", tied=True).vocabulary)
    assert source is target
    vocabulary = model("bahdanau").vocabulary
    source, target = word_tables(vocabulary)
    assert torch.equal(source, vocabulary.source_words)
    assert torch.equal(target, vocabulary.target_words)
    assert source.data_ptr() != vocabulary.source_words.data_ptr()
