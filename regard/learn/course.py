"""Course: which chapters there are, and in which language."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from regard.errors import RegardError, nearest
from regard.learn.chapter import Chapter
from regard.learn.judge import Judgement, judge

FOLDER = Path(__file__).with_name("course")
LOCALES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Where a system says its language; the first that is set counts."""


def languages() -> list[str]:
    """Those that the course is written in: en first."""
    return sorted(path.name for path in FOLDER.iterdir() if any(path.glob("[0-9][0-9]-*.md")))


def language_of(environment: Mapping[str, str] = os.environ) -> str:
    """The reader's language, if the course is written in it; else English."""
    said = next((environment[name] for name in LOCALES if environment.get(name)), "")
    wanted = said.partition("_")[0]
    return wanted if wanted in languages() else "en"


def chapters(language: str = "en") -> tuple[Chapter, ...]:
    """All chapters of a language, in their order."""
    if language not in languages():
        known = ", ".join(languages())
        raise RegardError(
            f"the course is not written in {language!r}{nearest(language, languages())} "
            f"(there is: {known})"
        )
    return _read(language)


@cache
def _read(language: str) -> tuple[Chapter, ...]:
    paths = sorted((FOLDER / language).glob("[0-9][0-9]-*.md"))
    return tuple(Chapter.read(path) for path in paths)


def find_chapter(wanted: str, language: str = "en") -> Chapter:
    """The chapter of a number (``5``) or a name (``05-self-attention``, ``self-attention``)."""
    known = chapters(language)
    for chapter in known:
        if wanted in (str(chapter.number), chapter.name, chapter.name.partition("-")[2]):
            return chapter
    names = [chapter.name.partition("-")[2] for chapter in known]
    raise RegardError(
        f"there is no chapter {wanted!r}{nearest(wanted, names)} "
        f"('regard learn' lists {known[0].number} to {known[-1].number})"
    )


def check_answer(number: str, answer: object, language: str = "en") -> Judgement:
    """Judge an answer to an exercise, ``5.2``: for notebooks.

    >>> check_answer("5.2", 0.155)
    Judgement(right=True, says='')
    """
    asked = {q.number: q for chapter in chapters(language) for q in chapter.questions}
    if number not in asked:
        raise RegardError(f"there is no exercise {number!r}{nearest(number, asked)}")
    return judge(asked[number], str(answer), language)
