"""Figures: what the chapters show, as plain data to be drawn for slides.

Lines come from the chapters' own tables, maps are computed by the models that the chapters run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from regard.learn.chapter import Chapter, Prose
from regard.trace import Array

TIRED = "The animal didn't cross the street because it was too {}"
HELP = "Können Sie mir helfen, diesen Satz zu übersetzen?"


@dataclass(frozen=True)
class CourseFigure:
    """A picture: rows over columns, as lines (a row each) or as a map."""

    name: str
    """That of its chapter, and what it shows: ``01-bleu``."""
    title: str
    kind: str
    """``lines`` or ``map``."""
    rows: list[str]
    columns: list[str]
    values: Array = field(compare=False)
    along: str = ""
    """What the columns are."""


def course_figures(chapters: tuple[Chapter, ...]) -> Iterator[CourseFigure]:
    """All figures, each made when it is asked for."""
    numbered = {chapter.number: chapter for chapter in chapters}
    yield table_figure(numbered[1], "01-bleu", "BLEU")
    yield alignment()
    yield table_figure(numbered[3], "03-forgetting", "%")
    yield weights()
    yield temperatures()
    yield positions()
    yield pronoun()


def table_figure(chapter: Chapter, name: str, unit: str) -> CourseFigure:
    """The first table of a chapter whose cells are numbers, as lines."""
    for part in chapter.parts:
        if isinstance(part, Prose) and (found := _table(part.text)):
            head, *rows = found
            values = np.array([[float(cell) for cell in row[1:]] for row in rows])
            title = f"{chapter.title} ({unit})"
            return CourseFigure(
                name, title, "lines", [row[0] for row in rows], head[1:], values, head[0]
            )
    raise ValueError(f"chapter {chapter.number} has no table of numbers")


def _table(text: str) -> list[list[str]] | None:
    lines = re.findall(r"^\|(.+)\|$", text, re.MULTILINE)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    numbers = [cell for row in cells[2:] for cell in row[1:]]
    well = bool(numbers) and all(re.fullmatch(r"-?\d+(\.\d+)?", cell) for cell in numbers)
    return [cells[0], *cells[2:]] if well else None


def alignment() -> CourseFigure:
    """Bahdanau's weights for the sentence of chapters 1 and 2."""
    from regard.models.translators.translation import translate_texts
    from regard.store.shipped import find_translator

    found = next(iter(translate_texts(*find_translator("bahdanau"), [HELP])))
    return CourseFigure(
        "02-alignment", HELP, "map", found.target, found.source, np.asarray(found.alignment)
    )


def weights() -> CourseFigure:
    """The corrected example of chapter 5."""
    from regard.worked.example import Example
    from regard.worked.stages import compute

    example = Example.load("tutorial-corrected")
    values = compute(example).value("weights")
    title = "softmax(Q Kᵀ / √d_k)"
    return CourseFigure("05-weights", title, "map", example.tokens, example.tokens, values)


def temperatures() -> CourseFigure:
    """Softmax of the same three scores, chapter 6."""
    scores, steps = np.array([1.0, 2.0, 4.0]), np.array([0.25, 0.5, 1, 2, 4, 8, 16])
    shares = np.exp(scores[:, None] / steps)
    names = [f"score {score:g}" for score in scores]
    columns = [f"{step:g}" for step in steps]
    return CourseFigure(
        "06-temperature", "softmax", "lines", names, columns, shares / shares.sum(0), "temperature"
    )


def positions() -> CourseFigure:
    """The waves of chapter 8."""
    from regard.vectors.positions import sinusoidal

    values = sinusoidal(50, 32).numpy()
    rows, columns = ([str(i) for i in range(n)] for n in values.shape)
    return CourseFigure("08-positions", "sin, cos", "map", rows, columns, values)


def pronoun() -> CourseFigure:
    """What *it* looks at in layer 3, head 1, of minilm, with two endings: chapter 10."""
    from regard.inside.explain.computed import ComputedModel

    model = ComputedModel("minilm")
    tired, wide = (
        model.explain(TIRED.format(ending), "it", None, 3, 1) for ending in ("tired", "wide")
    )
    labels = [*tired.reading.labels[:-2], "tired / wide", tired.reading.labels[-1]]
    values = np.stack([tired.weights, wide.weights])
    rows = ["it (tired)", "it (wide)"]
    return CourseFigure("10-it", "minilm, layer 3, head 1", "map", rows, labels, values)
