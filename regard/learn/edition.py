"""Edition: the chapters as plain data, for a page or any other reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.learn.chapter import Chapter, Drawing, Living, Part, Prose, Sample, Written
from regard.learn.question import Question
from regard.learn.seal import sealed


def edition(chapters: Sequence[Chapter], language: str) -> dict[str, Any]:
    """All of the course: Markdown, samples with what they print, exercises with sealed answers."""
    return {"language": language, "chapters": [chapter_data(chapter) for chapter in chapters]}


def chapter_data(chapter: Chapter) -> dict[str, Any]:
    return {
        "number": chapter.number,
        "name": chapter.name,
        "title": chapter.title,
        "question": chapter.question,
        "pages": [
            {"title": page.title, "parts": [_part(part) for part in page.parts]}
            for page in chapter.pages
        ],
    }


def _part(part: Part) -> dict[str, Any]:
    match part:
        case Prose(text):
            return {"prose": text}
        case Drawing(text):
            return {"drawing": text}
        case Written(name, _, text):
            return {"file": name, "text": text}
        case Sample(language, source, printed):
            return {"sample": language, "source": source, "printed": printed}
        case Living(models):
            return {"living": part.name, "models": list(models), "command": part.command}
        case Question():
            return {
                "exercise": part.number,
                "title": part.title,
                "prose": part.text,
                "hints": list(part.hints),
                "solution": part.solution,
                "sealed": sealed(part),
            }
