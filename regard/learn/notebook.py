"""Notebook: a chapter as a Jupyter notebook (nbformat 4.5), its samples as cells with output."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from regard.learn.chapter import Chapter, ChapterPage, Drawing, Living, Part, Prose, Sample, Written
from regard.learn.question import Question

SUMMARIES = {"en": ("Hint", "Second hint", "Solution"), "zh": ("提示", "再提示", "解答")}
EXERCISE = {"en": "Exercise", "zh": "练习"}


def notebook(chapter: Chapter, language: str = "en") -> dict[str, Any]:
    """The notebook's content; it needs a kernel of a Python in which regard is installed."""
    cells = [_text(f"# {chapter.number}. {chapter.title}\n\n> {chapter.question}")]
    for page in chapter.pages:
        cells += _page(page, language)
    for place, cell in enumerate(cells):
        seed = f"{chapter.name} {place}".encode()
        cell["id"] = hashlib.sha256(seed).hexdigest()[:8]
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _page(page: ChapterPage, language: str) -> Iterator[dict[str, Any]]:
    if page.title:
        yield _text(f"## {page.title}")
    for part in page.parts:
        yield from _part(part, language)


def _part(part: Part, language: str) -> Iterator[dict[str, Any]]:
    match part:
        case Prose(text):
            yield _text(text)
        case Drawing(text):
            yield _text(f"```text\n{text}```")
        case Written(name, _, text):
            yield _code(f"%%writefile {name}\n{text}", "")
        case Sample(kind, source, printed):
            yield _code(f"!{source}" if kind == "console" else source, printed)
        case Living():
            yield _text(f"```console\n$ {part.command}\n```")
        case Question():
            yield _text(_question(part, language))
            if part.kind != "open":
                yield _code(_asking(part, language), "")


def _question(question: Question, language: str) -> str:
    helped = "\n\n".join(
        f"<details><summary>{name}</summary>\n\n{text}\n\n</details>"
        for name, text in zip(
            SUMMARIES.get(language, SUMMARIES["en"]),
            (*question.hints, question.solution),
            strict=True,
        )
    )
    name = EXERCISE.get(language, EXERCISE["en"])
    return f"### {name} {question.number}: {question.title}\n\n{question.text}\n\n{helped}"


def _asking(question: Question, language: str) -> str:
    said = "" if language == "en" else f", language={json.dumps(language)}"
    return (
        "from regard.learn.course import check_answer\n\n"
        f'check_answer("{question.number}", ""{said})  # your answer between the quotes'
    )


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str, printed: str) -> dict[str, Any]:
    outputs = [{"output_type": "stream", "name": "stdout", "text": printed}] if printed else []
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": outputs,
        "source": source.rstrip("\n"),
    }
