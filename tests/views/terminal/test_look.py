"""A look on the terminal: overview, links, a word, one head, and what must be said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from regard.pieces.heads import HEAD_KINDS
from regard.pieces.look import Look
from regard.views.terminal.look import (
    KIND_SIGNS,
    hundredths,
    print_look,
    remarks,
    sink_names,
)
from tests.pieces.looks import made_up
from tests.views.terminal.consoles import console, printed


def shown(look: Look, width: int = 80) -> str:
    to = console(width)
    print_look(look, to)
    return printed(to)


def test_every_kind_has_a_sign_of_its_own() -> None:
    assert [*KIND_SIGNS] == [*HEAD_KINDS, "mixed"]
    assert len({sign for sign, _ in KIND_SIGNS.values()}) == len(KIND_SIGNS)


def test_the_overview_and_the_links() -> None:
    lines = shown(made_up()).splitlines()
    assert (
        lines[0].rstrip() == "made-up: 6 tokens, 2 layers, 3 heads each (layers and heads from 0)"
    )
    assert lines[1].rstrip() == "[CLS] it was un ##real [SEP]"
    assert lines[4].rstrip() == "  0 P.90    · L.50"
    assert lines[5].rstrip() == "  1 F1.0 B.70 P.40"
    legend = "P previous token 2   F first token 1   L local window 1   B broad 1   · mixed 1"
    assert lines[7].rstrip() == legend
    best = [line.split() for line in lines if "→ it" in line]
    assert [line[3:5] for line in best] == [
        ["0.900", "L0H0"],
        ["0.800", "L0H1"],
        ["0.700", "L0H2"],
        ["0.600", "L1H0"],
        ["0.500", "L1H1"],
        ["0.400", "L1H2"],
    ]


def test_a_measure_heads_its_column() -> None:
    look = made_up()
    assert "weight  head    its kind" in shown(look)
    look.request = replace(look.request, measure="value-zeroing")
    assert "                                   zeroing  head    its kind" in shown(look)


def test_one_layer_has_the_score_of_every_kind() -> None:
    text = shown(made_up(layer=1), 100)
    assert "1 layers" not in text
    assert "layer 1, 3 heads" in text
    row = next(line.split() for line in text.splitlines() if line.strip().startswith("L1H0"))
    assert row[:2] == ["L1H0", "first"]
    assert row[2:] == [".010", ".010", ".010", "1.00", ".010", ".010", "-", ".010", ".010"]


def test_a_word() -> None:
    text = shown(made_up(word="it"))
    first, second = text.split("'it' is attended to by")
    rows = [line.split() for line in first.splitlines() if "L1H" in line]
    assert rows[0][:2] == ["it", "0.267"], "the mean of .1, .6 and .1"
    assert rows[0][-2:] == ["0.600", "L1H1"]
    assert [row[0] for row in rows[:3]] == ["it", "was", "[CLS]"]
    assert second.count("L1H") == 6


def test_one_head_has_its_weights_in_hundredths() -> None:
    text = shown(made_up(layer=1, head=2))
    assert "L1H2: previous token" in text
    row = next(line for line in text.splitlines() if line.startswith("was"))
    assert [part.strip("░▒▓█") for part in row.split()] == ["was", "10", "60", "10", "5", "5", "10"]
    assert "Strongest links" in text
    assert "was (2) → it (1)" in text


def test_a_large_head_is_a_coarse_picture() -> None:
    import torch

    from regard.attention.map import AttentionMap

    look = made_up(layer=1, head=2)
    look.map = AttentionMap.from_weights(torch.eye(128))
    text = shown(look)
    assert "Each sign is the largest of 2 x 2 weights" in text
    rows = [line for line in text.splitlines() if "█" in line and "Each" not in line]
    assert len(rows) == 64
    assert rows[3].rstrip() == "     6    █"


def test_what_must_be_said() -> None:
    (said,) = remarks(made_up())
    assert said == "25% of the weight goes to [CLS] and [SEP]; --no-sink leaves these out."
    (said,) = remarks(made_up(no_sink=True))
    assert said.startswith("Without [CLS] and [SEP]: every weight here is renormalised")
    look = made_up()
    look.sink = {0: 0.01}
    assert remarks(look) == []
    look.keys.special[0] = False
    assert sink_names(look) == "the first token ([CLS]) and [SEP]"


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, ".00"), (0.644, ".64"), (0.994, ".99"), (1, "1.0")]
)
def test_hundredths(share: float, text: str) -> None:
    assert hundredths(share) == text
