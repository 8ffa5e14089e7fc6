"""Lesson: a chapter of the course on a terminal, page by page."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.errors import RegardError
from regard.learn.bookmarks import Bookmarks
from regard.learn.chapter import Chapter, ChapterPage, Drawing, Part, Prose, Sample, Written
from regard.learn.judge import judge
from regard.learn.question import Question
from regard.learn.runner import Runner
from regard.text import padded
from regard.views.terminal.console import make_console
from regard.views.terminal.markdown import print_block, print_markdown

STOPPED, REFUSED = 130, 2
"""Exit codes: ended by Ctrl-C; a mistake, told on standard error."""
KEYS = "Enter goes on, b goes back, q leaves"
ASKED = "Your answer (Enter: a hint, then the solution; s skips): "


def print_contents(chapters: Sequence[Chapter], marks: Bookmarks) -> None:
    """The chapters, and how far the reader is."""
    console = make_console()
    _note(marks, console)
    width = max(len(chapter.title) for chapter in chapters)
    for chapter in chapters:
        line = Text(f"{chapter.number:>3}  {padded(chapter.title, width)}  ", style="bold")
        console.print(line.append(_progress(chapter, marks), style="dim"))
        console.print(Padding(Text(chapter.question, style="italic"), (0, 0, 0, 5)))
    console.print()
    console.print("regard learn 1 begins; regard learn --help says what else there is.")


def _progress(chapter: Chapter, marks: Bookmarks) -> str:
    solved = sum(question.number in marks.solved for question in chapter.questions)
    exercises = f"{solved} of {len(chapter.questions)} exercises"
    if chapter.name in marks.finished:
        return f"read, {exercises}"
    if chapter.name in marks.pages:
        return f"page {marks.pages[chapter.name] + 1} of {len(chapter.pages)}, {exercises}"
    return f"{len(chapter.pages)} pages, {len(chapter.questions)} exercises"


def print_chapter(chapter: Chapter, pages: Sequence[ChapterPage]) -> None:
    """The text of pages, with what their samples print, and nothing that waits for an answer."""
    console = make_console()
    print_title(chapter, console)
    for page in pages:
        _print_heading(page, console)
        for part in page.parts:
            _print_part(part, console)
            if isinstance(part, Sample) and part.printed:
                print_block(part.printed, console, indent=0)


def print_title(chapter: Chapter, console: Console) -> None:
    console.print(Text(f"{chapter.number}. {chapter.title}", style="bold underline"))
    console.print(Text(chapter.question, style="italic"))
    console.print()


def _print_heading(page: ChapterPage, console: Console) -> None:
    if page.title:
        console.print(Text(page.title, style="bold"))
        console.print()


def _print_part(part: Part, console: Console) -> None:
    match part:
        case Prose(text):
            print_markdown(text, console)
        case Drawing(text):
            print_block(text, console)
        case Written(name, _, text):
            console.print(Text(f"{name}:", style="dim"))
            print_block(text, console, style="cyan")
        case Sample(language, source):
            mark = "$ " if language == "console" else ""
            print_block(f"{mark}{source}", console, style="cyan")
        case Question():
            console.print(Text(f"Exercise {part.number}: {part.title}", style="bold"))
            console.print()
            print_markdown(part.text, console)


def _note(marks: Bookmarks, console: Console) -> None:
    if marks.trouble:
        console.print(Text(marks.trouble, style="yellow"))
        marks.trouble = ""


def run_command(arguments: list[str]) -> str:
    """What ``regard`` prints with these arguments, or the error that it ends with.

    In this process: torch is imported once for all samples.
    """
    from regard.cli import main

    printed, errors, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
        try:
            main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
    if code == STOPPED:
        raise KeyboardInterrupt
    return errors.getvalue() if code == REFUSED else printed.getvalue()


class Lesson:
    """One chapter, its samples run where it is read."""

    def __init__(self, chapter: Chapter, marks: Bookmarks, run: bool = True) -> None:
        self.chapter, self.marks, self.runs = chapter, marks, run
        self.console = make_console()

    def start(self, page: int | None) -> None:
        """From a page, or from where the reader was; Ctrl-C or Ctrl-D leave at any time."""
        last = len(self.chapter.pages) - 1
        place = min(self.marks.pages.get(self.chapter.name, 0) if page is None else page, last)
        if self.chapter.name in self.marks.finished and page is None:
            place = 0
        _note(self.marks, self.console)
        with tempfile.TemporaryDirectory(prefix="regard-learn-") as folder:
            self.runner = Runner(Path(folder), run_command)
            try:
                self._pages(place)
            except (KeyboardInterrupt, EOFError, click.Abort):
                self.console.print()
                self._leave()

    def _pages(self, place: int) -> None:
        pages = self.chapter.pages
        self._prepare(pages[:place])
        while place < len(pages):
            self._remember(place)
            self.console.rule(f"{self.chapter.number}. page {place + 1} of {len(pages)}")
            if place == 0:
                print_title(self.chapter, self.console)
            self._show(pages[place])
            key = self._ask(f"[{KEYS}] ").lower() if place < len(pages) - 1 else ""
            if key == "q":
                self._leave()
                return
            place = max(0, place - 1) if key == "b" else place + 1
        self.marks.finished.add(self.chapter.name)
        self.marks.save()
        self.console.print(f"Chapter {self.chapter.number} is done. 'regard learn' lists the rest.")

    def _prepare(self, pages: Sequence[ChapterPage]) -> None:
        """What later samples need of the pages before: files, and names of Python."""
        for page in pages:
            for part in page.parts:
                if isinstance(part, Written):
                    self.runner.write(part)
                elif isinstance(part, Sample) and self.runs and part.language == "python":
                    self._output(part)

    def _remember(self, place: int) -> None:
        self.marks.pages[self.chapter.name] = place
        self.marks.save()
        _note(self.marks, self.console)

    def _leave(self) -> None:
        number = self.chapter.number
        self.console.print(f"Until next time: 'regard learn {number}' goes on here.")

    def _show(self, page: ChapterPage) -> None:
        _print_heading(page, self.console)
        for part in page.parts:
            _print_part(part, self.console)
            if isinstance(part, Written):
                self.runner.write(part)
            elif isinstance(part, Sample):
                printed = self._output(part) if self.runs else part.printed
                if printed:
                    print_block(printed, self.console, indent=0)
            elif isinstance(part, Question):
                self._examine(part)

    def _output(self, sample: Sample) -> str:
        """What a sample prints here and now; if it cannot run, what it printed when written."""
        try:
            printed = self.runner.run(sample)
        except (RegardError, ImportError) as error:
            printed = f"regard: error: {error}"
        if printed.startswith("regard: error:") and not sample.printed.startswith("regard: error:"):
            return f"{printed.rstrip()}\nNot run here; elsewhere it printed:\n{sample.printed}"
        return printed

    def _ask(self, prompt: str) -> str:
        return self.console.input(Text(prompt, style="dim")).strip()

    def _examine(self, question: Question) -> None:
        """Ask until the answer is right, the solution is shown, or the reader goes on."""
        help_left = [*question.hints, question.solution]
        while True:
            answer = self._ask(ASKED)
            if answer.lower() == "s":
                return
            if answer:
                judgement = judge(question, answer)
                says = f" {judgement.says}" if judgement.says else ""
                self.console.print(f"{'Right.' if judgement.right else 'Not yet.'}{says}")
                if judgement.right:
                    self.marks.solved.add(question.number)
                    self.marks.save()
                    print_markdown(question.solution, self.console)
                    return
                continue
            print_markdown(help_left.pop(0), self.console)
            if not help_left:
                return
