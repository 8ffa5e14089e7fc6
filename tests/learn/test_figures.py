"""Figures: the numbers of the chapters."""

from __future__ import annotations

import numpy as np
import pytest

from regard.learn.chapter import Chapter
from regard.learn.course import chapters
from regard.learn.figures import alignment, positions, table_figure, temperatures, weights


@pytest.mark.parametrize("language", ["en", "zh"])
def test_tables_become_lines(language: str) -> None:
    course = chapters(language)
    bleu = table_figure(course[0], "01-bleu", "BLEU")
    assert bleu.values.shape == (3, 6)
    assert bleu.values[1].tolist() == [42.7, 43.3, 43.2, 33.5, 22.6, 14.0]
    assert len(bleu.rows) == 3
    assert bleu.columns[0] == "1–4"
    assert table_figure(course[2], "03-forgetting", "%").values[1].tolist() == [100] * 5


def test_a_chapter_without_numbers() -> None:
    with pytest.raises(ValueError, match="chapter 1 has no table of numbers"):
        table_figure(Chapter.parse("01-x", "# 1. T\n\n> Q\n\n| a |\n|---|\n| b |\n"), "x", "")


def test_maps_are_those_of_the_chapters() -> None:
    found = alignment()
    help_, helfen = found.rows.index("help"), found.columns.index("helfen")
    assert found.values[help_].argmax() == helfen
    assert np.allclose(weights().values[0], [0.2732, 0.4488, 0.2780], atol=1e-4)
    assert np.allclose(temperatures().values.sum(0), 1)
    assert np.allclose(temperatures().values[:, 2], [0.042, 0.114, 0.844], atol=1e-3)
    assert positions().values[0].tolist() == [0, 1] * 16


def test_the_pronoun(minilm: object) -> None:
    from regard.learn.figures import pronoun

    found = pronoun()
    animal = found.columns.index("animal")
    assert np.allclose(found.values[:, animal], [0.640, 0.266], atol=2e-3)
