"""``regard learn`` as a person runs it: the list, a pipe, a terminal of its own."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.learn.course import chapters
from tests.cli.run import ROOT, regard


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    return tmp_path / "state"


def test_the_list_of_chapters() -> None:
    done = regard("learn")
    assert done.returncode == 0
    for chapter in chapters():
        assert f"{chapter.number:>3}  {chapter.title}" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_a_chapter_in_a_pipe_is_text() -> None:
    done = regard("learn", "2")
    assert done.stdout.startswith("2. Looking back\n")
    assert "Exercise 2.4" in done.stdout
    assert "\x1b" not in done.stdout
    assert regard("learn", "2", "--page", "9").stdout.count("\n") < 30


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["99"], "there is no chapter '99' ('regard learn' lists 1 to "),
        (["loking-back"], "no chapter 'loking-back'; did you mean 'looking-back'?"),
        (["1", "--page", "99"], "chapter 1 has pages 1 to "),
        (["--page", "2"], "--page is a page of a CHAPTER: name one"),
        (["3", "--html", "x.html"], "--html, --folder, --notebooks, --figures are of the whole"),
        (["--living", "all"], "--living is of the course as a page: add --html FILE or --folder"),
        (["--html", "/none/x.html"], "cannot write '/none/x.html'"),
        (["--lang", "xx"], "the course is not written in 'xx'"),
    ],
)
def test_mistakes(arguments: list[str], said: str) -> None:
    done = regard("learn", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_damaged_file_of_bookmarks(state: Path) -> None:
    state.mkdir()
    (state / "learn.json").write_text("{")
    done = regard("learn")
    assert done.returncode == 0
    assert "is damaged: beginning anew" in " ".join(done.stdout.split())
    assert regard("learn", "--reset").stdout == "Forgotten: every chapter begins anew.\n"
    assert "damaged" not in regard("learn").stdout


def test_the_course_as_a_file_and_as_notebooks(tmp_path: Path) -> None:
    forms = ("--html", tmp_path / "c.html", "--notebooks", tmp_path / "n" / "b")
    done = regard("learn", *forms, "--living", "none")
    assert done.returncode == 0, done.stderr
    assert "Written: " in done.stdout
    assert (tmp_path / "c.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    names = {path.stem for path in (tmp_path / "n" / "b").glob("*.ipynb")}
    assert names == {chapter.name for chapter in chapters()}


def test_the_course_as_a_folder(tmp_path: Path) -> None:
    """Beside it a page for each living part, but minilm's; every address leads to one."""
    done = regard("learn", "--folder", tmp_path / "site", "--lang", "zh")
    assert done.returncode == 0, done.stderr
    parts = [part for chapter in chapters("zh") for part in chapter.living]
    names = {f"{part.name}.html" for part in parts if part.models != ("minilm",)}
    assert {path.name for path in (tmp_path / "site").iterdir()} == names | {"index.html"}
    text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r'href="([\w+-]+\.html)"', text)) == names
    assert "regard live minilm" in text


class Terminal:
    """A process on a terminal of its own, 80 columns wide."""

    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        self.process, self.end, self.text = process, end, ""

    def shows(self, part: str, seconds: float) -> bool:
        """Read until ``part`` is shown, after what was waited for before, or the time is over."""
        limit = time.monotonic() + seconds
        while part not in self.text:
            if time.monotonic() > limit:
                return False
            if select.select([self.end], [], [], 0.2)[0]:
                self.text += os.read(self.end, 65536).decode(errors="replace")
        self.text = self.text.partition(part)[2]
        return True

    def until(self, part: str) -> None:
        assert self.shows(part, 60), f"{part!r} did not come:\n{self.text[-2000:]}"

    def interrupt(self, part: str) -> None:
        """Ctrl-C until ``part`` is shown: one that comes while a prompt is being printed may wait
        for the next key."""
        for _ in range(6):
            os.killpg(self.process.pid, signal.SIGINT)
            if self.shows(part, 10):
                return
        raise AssertionError(f"{part!r} did not come:\n{self.text[-2000:]}")

    def type(self, line: str) -> None:
        os.write(self.end, f"{line}\n".encode())


@contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    mine, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", "learn", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        start_new_session=True,
        env=os.environ | {"COLUMNS": "80", "TERM": "xterm", "OMP_NUM_THREADS": "1"},
    )
    os.close(theirs)
    try:
        yield Terminal(process, mine)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(mine)


def test_three_chapters_on_a_terminal() -> None:
    """Right and wrong answers, hints, back and on, and Ctrl-C."""
    with terminal("2", "--page", "8", "--no-run") as shown:
        shown.until("Your answer")
        shown.type("0.76")
        shown.until("Not yet.")
        shown.type("")
        shown.until("Add the two vectors first")
        shown.type("1.523")
        shown.until("Right.")
        for _ in range(3):
            shown.until("Your answer")
            shown.type("s")
        shown.until("q leaves")
        shown.type("")
        shown.until("Chapter 2 is done.")
        assert shown.process.wait(20) == 0
    with terminal("5", "--page", "2") as shown:  # its first page's Python runs before
        shown.until("page 2 of")
        shown.until("[0.016 0.867 0.117]")
        shown.until("q leaves")
        shown.type("b")
        shown.until("page 1 of")
        shown.until("q leaves")
        shown.interrupt("'regard learn 5' goes on here.")
        assert shown.process.wait(20) == 0
    with terminal("3", "--page", "6", "--no-run") as shown:
        shown.until("q leaves")
        shown.type("q")
        shown.until("'regard learn 3' goes on here.")
    listed = regard("learn").stdout
    assert "read, 1 of 4 exercises" in listed
    assert "page 1 of 8, 0 of 4" in listed
    assert "page 6 of 8, 0 of 4" in listed


def test_a_closed_input_gets_the_chapter_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    done = regard("learn", "1", "--page", "1", "--no-run")
    assert done.returncode == 0, done.stderr
    assert "one vector" in done.stdout
