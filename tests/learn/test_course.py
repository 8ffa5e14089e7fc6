"""The course: every sample prints what stands below it, and every exercise is whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.cli.shared.lesson import run_command
from regard.errors import RegardError
from regard.learn.chapter import Chapter, Prose, Sample, Written
from regard.learn.course import (
    chapters,
    check_answer,
    find_chapter,
    language_of,
    languages,
)
from regard.learn.judge import CHECKED, judge, true_value
from regard.learn.output import agrees
from regard.learn.question import Question
from regard.learn.runner import Runner

ENGLISH = chapters("en")


# Gensim leaves a file open when it refuses it, which chapter 4 shows.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("chapter", ENGLISH, ids=lambda chapter: chapter.name)
def test_every_sample_prints_what_is_shown(
    chapter: Chapter,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    if any("minilm" in sample.source for sample in chapter.samples):
        request.getfixturevalue("minilm")
    runner = Runner(tmp_path, run_command)
    for part in chapter.parts:
        if isinstance(part, Written):
            runner.write(part)
        elif isinstance(part, Sample):
            printed = runner.run(part)
            assert agrees(part.printed, printed, part.varies), f"{part.source}\n{printed}"


def test_chapters_are_numbered_and_have_exercises() -> None:
    numbers = [chapter.number for chapter in ENGLISH]
    assert numbers == sorted(set(numbers))
    for chapter in ENGLISH:
        assert chapter.name.startswith(f"{chapter.number:02}-")
        assert len(chapter.questions) in (3, 4), chapter.name
        asked = [question.number for question in chapter.questions]
        assert asked == [f"{chapter.number}.{i + 1}" for i in range(len(asked))]
        assert chapter.pages[-1].title == "Go deeper"


QUESTIONS = [question for chapter in ENGLISH for question in chapter.questions]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.number)
def test_the_right_answer_is_judged_right_and_another_wrong(question: Question) -> None:
    if question.kind not in CHECKED:
        return
    if question.kind == "word":
        right, wrong = question.answer.partition("|")[0], "something else"
    else:
        right = str(true_value(question))
        wrong = " ".join(["12345.67"] * max(1, right.count(",") + 1))
    assert judge(question, right).right
    assert not judge(question, wrong).right
    assert question.solution


OTHERS = [language for language in languages() if language != "en"]


@pytest.mark.parametrize("language", OTHERS)
def test_another_language_has_the_same_samples_exercises_and_numbers(language: str) -> None:
    """So what the samples print is held true in every language by running them in one."""
    for mine, other in zip(ENGLISH, chapters(language), strict=True):
        assert (other.number, other.name) == (mine.number, mine.name)
        assert len(other.pages) == len(mine.pages), mine.name
        assert other.samples == mine.samples, mine.name
        files = [[part for part in c.parts if isinstance(part, Written)] for c in (mine, other)]
        assert files[0] == files[1]
        for a, b in zip(mine.questions, other.questions, strict=True):
            assert (a.number, a.kind, a.answer, a.example) == (
                b.number,
                b.kind,
                b.answer,
                b.example,
            )
            assert b.text != a.text


@pytest.mark.parametrize("language", OTHERS)
def test_another_language_is_written_in_it(language: str) -> None:
    for mine, other in zip(ENGLISH, chapters(language), strict=True):
        english = {part.text for part in mine.parts if isinstance(part, Prose)}
        left = [p.text for p in other.parts if isinstance(p, Prose) and p.text in english]
        assert left == [], other.name


def test_a_chapter_by_its_number_and_its_names() -> None:
    first = ENGLISH[0]
    assert find_chapter("1") is first
    assert find_chapter(first.name) is find_chapter("one-vector") is first
    with pytest.raises(RegardError, match="no chapter 'oder'; did you mean 'order'"):
        find_chapter("oder")


def test_the_language_is_the_systems_if_it_is_there() -> None:
    assert languages()[0] == "en"
    assert language_of({"LANG": "de_DE.UTF-8"}) == "en"
    assert language_of({"LC_ALL": "", "LANG": "en_GB"}) == "en"
    assert language_of({}) == "en"
    assert language_of({"LANG": "zh_CN.UTF-8"}) == "zh"
    with pytest.raises(RegardError, match=r"the course is not written in 'xx' \(there is: en, zh"):
        chapters("xx")


def test_an_answer_from_a_notebook() -> None:
    assert check_answer("5.2", 0.155).right
    assert not check_answer("5.1", [1, 0, 2]).right
    with pytest.raises(RegardError, match=r"there is no exercise '55\.2'; did you mean"):
        check_answer("55.2", 1)
