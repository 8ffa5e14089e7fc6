"""The course as one file, in a real browser and as text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from regard.learn.course import chapters, languages
from regard.learn.edition import edition
from regard.learn.judge import CHECKED, true_value
from regard.learn.question import Question
from regard.live.carried import carry
from regard.live.file import live_html
from regard.views.page.course import WORDS, LivingPages, course_html
from tests.browser import Open

COURSE = chapters("en")
QUESTIONS = [question for chapter in COURSE for question in chapter.questions]
TYPED = [question for question in QUESTIONS if question.kind in CHECKED]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("course") / "course.html"
    path.write_text(course_html(edition(COURSE, "en")), encoding="utf-8")
    return path


def right(question: Question) -> str:
    if question.kind == "word":
        return question.answer.partition("|")[0].strip()
    return str(true_value(question))


def test_all_of_it_is_there_without_a_script(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for chapter in COURSE:
        assert f'<article id="{chapter.name}"' in text
    assert len(re.findall('class="exercise"', text)) == len(QUESTIONS)
    assert "@@" not in text
    assert "<!-- answer" not in text
    assert not re.search(r'(src|href)="https?:', re.sub(r'<a href="[^"]*"', "", text))


def test_every_language_has_every_word() -> None:
    assert set(languages()) <= WORDS.keys()
    assert all(words.keys() == WORDS["en"].keys() for words in WORDS.values())


def led_to(page: Any, chapter: str) -> None:
    """Wait until ``chapter`` is the one that is shown: a link's way goes over ``hashchange``."""
    page.locator(f'article.shown[id="{chapter}"]').wait_for()


ANSWER = """([number, answer]) => {
    const place = document.getElementById(`exercise-${number}`);
    place.querySelector("form input").value = answer;
    place.querySelector("form").requestSubmit();
    return [place.querySelector("output").textContent, place.classList.contains("solved")];
}"""


def test_a_walk_through_the_whole_course(file: Path, opened: Open) -> None:
    """Every chapter by its link, each exercise wrongly and rightly; kept after a reload."""
    sheet = opened(file)
    page: Any = sheet.page
    assert page.locator("article.shown h1").inner_text() == f"1. {COURSE[0].title}"
    for chapter in COURSE[1:]:
        page.locator("article.shown .around .next").click()
        led_to(page, chapter.name)
        assert page.locator("article.shown h1").inner_text() == f"{chapter.number}. {chapter.title}"
        assert page.locator("article:visible").count() == 1
    for question in TYPED:
        assert page.evaluate(ANSWER, [question.number, "777.77"])[1] is False
        said, solved = page.evaluate(ANSWER, [question.number, right(question)])
        assert (said, solved) == ("Right.", True), question.number
    assert f"{len(TYPED)} / {len(QUESTIONS)} exercises solved." in page.content()
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator("article.shown").get_attribute("id") == COURSE[-1].name
    assert page.locator(".exercise.solved").count() == len(TYPED)
    page.locator("#forget").click()
    assert page.locator(".exercise.solved").count() == 0
    sheet.clean()


def test_answers_that_are_nearly_right(file: Path, opened: Open) -> None:
    page: Any = opened(file).page
    two = next(q for q in QUESTIONS if q.number == "5.2")
    assert page.evaluate(ANSWER, ["5.2", "0.2"])[0].startswith("Right so far")
    assert page.evaluate(ANSWER, ["5.2", "much"])[0] == "A number is wanted, such as 0.37."
    assert page.evaluate(ANSWER, ["5.1", "1 0"])[0] == "So many numbers are wanted: 3"
    assert page.evaluate(ANSWER, ["5.1", "[1, 0; 1]"]) == ["Right.", True]
    assert page.evaluate(ANSWER, ["5.2", f"{true_value(two):.2f}".replace(".", ",")])[1]


def test_search_finds_and_leads_there(file: Path, opened: Open) -> None:
    page: Any = opened(file).page
    page.locator("#search").fill("rotary turn")
    assert page.locator("#found li").count() >= 1
    assert page.locator("article:visible").count() == 0
    page.locator("#found a").first.click()
    led_to(page, "08-order")
    page.locator("#search").fill("zzzz")
    assert page.locator("#found").inner_text() == "Nothing found."


def test_on_a_phone_in_the_dark_without_storage(file: Path, opened: Open) -> None:
    sheet = opened(file, "#02-looking-back", width=390, height=844, color_scheme="dark")
    page: Any = sheet.page
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    page.locator("#open-contents").click()
    page.locator("#contents a").first.click()
    led_to(page, COURSE[0].name)
    page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error('refused'); }})"
    )
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate(ANSWER, ["1.2", "mir"]) == ["Right.", True]
    assert "This browser keeps nothing" in page.locator("#progress").text_content()
    sheet.clean()


def test_a_living_page_runs_inside(tmp_path: Path, opened: Open) -> None:
    """The button becomes the page; its proof holds, and nothing breaks the course's policy."""
    part = next(part for chapter in COURSE for part in chapter.living)
    inside = {part.name: live_html([carry("word-by-word", examples=part.sentences)])}
    path = tmp_path / "course.html"
    path.write_text(course_html(edition(COURSE, "en"), LivingPages(inside)), encoding="utf-8")
    sheet = opened(path)
    page: Any = sheet.page
    page.locator(f'[data-living="{part.name}"]').click()
    frame = page.frame_locator("iframe")
    frame.locator("#live-proof[data-most]").wait_for(state="attached")
    assert float(frame.locator("#live-proof").get_attribute("data-most")) < 1e-5
    assert frame.locator(".live textarea").input_value() == part.sentences[0]
    assert frame.locator(".live-output").first.inner_text().strip()
    sheet.clean()


def test_damaged_storage(file: Path, opened: Open) -> None:
    page: Any = opened(file).page
    for damaged in ("{", '{"solved": 3, "chapter": 7}'):
        page.evaluate("text => localStorage.setItem('regard-course', text)", damaged)
        page.goto(f"{file.as_uri()}#")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        assert page.locator("article.shown").count() == 1
