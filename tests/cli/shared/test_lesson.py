"""A lesson on a terminal, with the answers typed by somebody else."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from regard.cli.shared.lesson import (
    WORDS,
    Lesson,
    print_chapter,
    print_contents,
    run_command,
)
from regard.learn.bookmarks import Bookmarks
from regard.learn.chapter import Chapter
from tests.learn.test_chapter import TEXT

CHAPTER = Chapter.parse(
    "03-a-title",
    TEXT.replace(
        "$ regard words show \\\n    three.txt one\nshown\n$ regard check x", "$ regard docs"
    ),
)


class Typing:
    """A console on which somebody types lines."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
        self.out, self.lines = io.StringIO(), iter(lines)
        console = Console(file=self.out, width=80)
        monkeypatch.setattr(console, "input", self.input)
        monkeypatch.setattr("regard.cli.shared.lesson.make_console", lambda: console)

    def input(self, prompt: object) -> str:
        self.out.write(f"{prompt}")
        line = next(self.lines, None)
        if line is None:
            raise EOFError
        self.out.write(f"{line}\n")
        return line

    @property
    def text(self) -> str:
        return self.out.getvalue()


@pytest.fixture
def marks(tmp_path: Path) -> Iterator[Bookmarks]:
    return Bookmarks.load(tmp_path / "learn.json")  # type: ignore[return-value]


def test_a_chapter_from_its_first_page_to_its_last(
    monkeypatch: pytest.MonkeyPatch, marks: Bookmarks
) -> None:
    typing = Typing(monkeypatch, "", "", "5", "", "", "2")
    Lesson(CHAPTER, marks).start(None)
    order = ["page 1 of 3", "Before any page.", "page 2 of 3", "three.txt:", "architecture"]
    order += ["page 3 of 3", "Not yet.", "A.", "B.", "Right.", "Two.", "Chapter 3 is done."]
    places = [typing.text.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)
    assert (marks.finished, marks.solved) == ({"03-a-title"}, {"3.1"})


def test_leaving_and_coming_back(monkeypatch: pytest.MonkeyPatch, marks: Bookmarks) -> None:
    typing = Typing(monkeypatch, "", "b", "", "q")
    Lesson(CHAPTER, marks, run=False).start(None)
    assert "'regard learn 3' goes on here." in typing.text
    assert Bookmarks.load(marks.path).pages == {"03-a-title": 1}
    typing = Typing(monkeypatch)  # Ctrl-D at once
    Lesson(CHAPTER, Bookmarks.load(marks.path), run=False).start(None)
    assert "page 2 of 3" in typing.text
    assert "page 1 of 3" not in typing.text
    assert "1 ms" in typing.text, "without running, what the chapter shows"
    assert typing.text.endswith("goes on here.\n")


def test_the_solution_after_two_hints(monkeypatch: pytest.MonkeyPatch, marks: Bookmarks) -> None:
    typing = Typing(monkeypatch, "", "", "")
    Lesson(CHAPTER, marks, run=False).start(2)
    assert "Two." in typing.text
    assert marks.solved == set()
    assert marks.finished == {"03-a-title"}
    Typing(monkeypatch, "s")
    Lesson(CHAPTER, marks, run=False).start(2)
    assert marks.solved == set()


def test_a_sample_that_cannot_run_shows_what_it_printed(
    monkeypatch: pytest.MonkeyPatch, marks: Bookmarks
) -> None:
    broken = Chapter.parse("03-a-title", TEXT)  # its file is no file of vectors
    typing = Typing(monkeypatch, "q")
    Lesson(broken, marks).start(1)
    assert "regard: error: " in typing.text
    assert "Not run here; elsewhere it printed:\nshown" in typing.text


def test_ctrl_c_in_a_sample_leaves(monkeypatch: pytest.MonkeyPatch, marks: Bookmarks) -> None:
    typing = Typing(monkeypatch, "never asked")

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.learn.runner.Runner.run", interrupted)
    Lesson(CHAPTER, marks).start(1)
    assert typing.text.endswith("goes on here.\n")


def test_the_list_says_how_far_one_is(monkeypatch: pytest.MonkeyPatch, marks: Bookmarks) -> None:
    typing = Typing(monkeypatch)
    print_contents([CHAPTER], marks)
    marks.pages["03-a-title"] = 1
    print_contents([CHAPTER], marks)
    marks.finished.add("03-a-title")
    marks.trouble = "the file was damaged"
    print_contents([CHAPTER], marks)
    for part in ("3 pages, 1 exercises", "page 2 of 3, 0 of 1", "read, 0 of 1", "was damaged"):
        assert part in typing.text


def test_a_whole_chapter_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    typing = Typing(monkeypatch)
    print_chapter(CHAPTER, CHAPTER.pages)
    assert "How many?" in typing.text
    assert "Two." not in typing.text
    assert "\x1b" not in typing.text


def test_what_a_command_prints() -> None:
    assert "\ntutorial-printed" in run_command(["check", "--list"])
    assert run_command(["check", "/none"]).startswith("regard: error: cannot read")


def test_a_command_that_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_: list[str]) -> None:
        raise SystemExit(130)

    monkeypatch.setattr("regard.cli.main", stopped)
    with pytest.raises(KeyboardInterrupt):
        run_command(["check"])


def test_every_language_has_every_word(monkeypatch: pytest.MonkeyPatch, marks: Bookmarks) -> None:
    for words in WORDS.values():
        assert words.keys() == WORDS["en"].keys()
        for name, said in WORDS["en"].items():
            assert words[name].count("{}") == said.count("{}"), name
    typing = Typing(monkeypatch, "2")
    Lesson(CHAPTER, marks, "zh", run=False).start(2)
    assert "练习 3.1：by pencil" in typing.text
    assert "正确。" in typing.text
