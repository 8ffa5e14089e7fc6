"""Recurrent translators, laid out. What they compute: tests/models/translators/test_native.py."""

from __future__ import annotations

import torch

from regard.attention.kernel import build
from regard.attention.kernel.recurrent import (
    LOOKING,
    SAYING,
    TOLD,
    PackedReader,
    PackedWriter,
    Products,
    UnitWeights,
)

WIDTH, HIDDEN, UNITS, WORDS = 3, 5, 7, 11


def unit() -> UnitWeights:
    inputs = torch.randn(3 * HIDDEN, WIDTH), torch.randn(3 * HIDDEN)
    return UnitWeights(inputs, torch.randn(2 * HIDDEN, HIDDEN), torch.randn(HIDDEN, HIDDEN))


def test_the_designs_are_those_of_the_library() -> None:
    header = (build.HERE / "recurrent.h").read_text()
    assert f"LOOKING = {LOOKING}, TOLD = {TOLD}, SAYING = {SAYING} " in header


def test_what_a_row_of_a_source_becomes() -> None:
    words = torch.randn(WORDS, WIDTH)
    key = {"key": [(torch.randn(HIDDEN, 2 * HIDDEN), None)]}
    looking = PackedReader(LOOKING, words, [unit(), unit()], key)
    assert (looking.network.out, looking.network.vocabulary) == (3 * HIDDEN, WORDS)
    assert looking.layout.inputs.out == 6 * HIDDEN
    assert looking.layout.backwards.gates.out == 2 * HIDDEN
    context = torch.randn(3 * HIDDEN + 2 * UNITS, HIDDEN)
    once = {"summary": [(torch.randn(HIDDEN, HIDDEN), None)], "context": [(context, None)]}
    told = PackedReader(TOLD, words, [unit()], once)
    assert told.network.out == 4 * HIDDEN + 2 * UNITS
    both: Products = {
        "from_state": [(torch.randn(2 * UNITS, HIDDEN), torch.randn(2 * UNITS))],
        "from_word": [(torch.randn(2 * UNITS, WIDTH), None)],
    }
    assert PackedReader(SAYING, words, [unit()], both).network.out == UNITS


def test_a_row_of_a_hypothesis_keeps_its_state() -> None:
    words = torch.randn(WORDS, WIDTH)
    out: Products = {"out": [(torch.randn(WORDS, UNITS), torch.randn(WORDS))]}
    products: Products = {**out, "candidate": [(torch.randn(HIDDEN, HIDDEN), None)]}
    writer = PackedWriter(LOOKING, words, products, v=torch.randn(HIDDEN))
    assert (writer.network.out, writer.network.kept) == (WORDS, HIDDEN)
    assert (writer.layout.units, writer.layout.hidden) == (UNITS, HIDDEN)
    assert PackedWriter(SAYING, words, out, end=3).network.kept == 0
