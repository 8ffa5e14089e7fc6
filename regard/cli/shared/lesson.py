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
from regard.learn.chapter import (
    Chapter,
    ChapterPage,
    Drawing,
    Living,
    Part,
    Prose,
    Sample,
    Written,
)
from regard.learn.judge import judge
from regard.learn.question import Question
from regard.learn.runner import Runner
from regard.text import columns, padded
from regard.views.terminal.console import make_console
from regard.views.terminal.markdown import print_block, print_markdown

STOPPED, REFUSED = 130, 2
"""Exit codes: ended by Ctrl-C; a mistake, told on standard error."""
WORDS = {
    "en": {
        "keys": "[Enter goes on, b goes back, q leaves] ",
        "asked": "Your answer (Enter: a hint, then the solution; s skips): ",
        "exercise": "Exercise {}: {}",
        "right": "Right.",
        "wrong": "Not yet.",
        "page": "{}. page {} of {}",
        "done": "Chapter {} is done. 'regard learn' lists the rest.",
        "left": "Until next time: 'regard learn {}' goes on here.",
        "living": "To try your own sentence in a browser:",
        "not_run": "Not run here; elsewhere it printed:",
        "begin": "regard learn 1 begins; regard learn --help says what else there is.",
        "new": "{} pages, {} exercises",
        "reading": "page {} of {}, {} of {} exercises",
        "read": "read, {} of {} exercises",
    },
    "zh": {
        "keys": "[回车：下一页，b：上一页，q：离开] ",
        "asked": "你的答案（直接回车：提示，然后解答；s：跳过）：",
        "exercise": "练习 {}：{}",
        "right": "正确。",
        "wrong": "还不对。",
        "page": "第 {} 章，第 {} 页，共 {} 页",
        "done": "第 {} 章完成。“regard learn” 列出其余各章。",
        "left": "下次见：“regard learn {}” 从这里继续。",
        "living": "在浏览器中试试你自己的句子：",
        "not_run": "此处未能运行；别处打印的是：",
        "begin": "regard learn 1 开始；regard learn --help 说明其他用法。",
        "new": "{} 页，{} 道练习",
        "reading": "第 {} 页，共 {} 页，练习 {} / {}",
        "read": "已读完，练习 {} / {}",
    },
}
"""What a lesson says beside the chapter itself, by language."""


def words_of(language: str) -> dict[str, str]:
    return WORDS.get(language, WORDS["en"])


def print_contents(chapters: Sequence[Chapter], marks: Bookmarks, language: str = "en") -> None:
    """The chapters, and how far the reader is."""
    console, words = make_console(), words_of(language)
    _note(marks, console)
    width = max(columns(chapter.title) for chapter in chapters)
    for chapter in chapters:
        line = Text(f"{chapter.number:>3}  {padded(chapter.title, width)}  ", style="bold")
        console.print(line.append(_progress(chapter, marks, words), style="dim"))
        console.print(Padding(Text(chapter.question, style="italic"), (0, 0, 0, 5)))
    console.print()
    console.print(words["begin"])


def _progress(chapter: Chapter, marks: Bookmarks, words: dict[str, str]) -> str:
    pages, exercises = len(chapter.pages), len(chapter.questions)
    solved = sum(question.number in marks.solved for question in chapter.questions)
    if chapter.name in marks.finished:
        return words["read"].format(solved, exercises)
    if chapter.name in marks.pages:
        return words["reading"].format(marks.pages[chapter.name] + 1, pages, solved, exercises)
    return words["new"].format(pages, exercises)


def print_chapter(chapter: Chapter, pages: Sequence[ChapterPage], language: str = "en") -> None:
    """The text of pages, with what their samples print, and nothing that waits for an answer."""
    console = make_console()
    print_title(chapter, console)
    for page in pages:
        _print_heading(page, console)
        for part in page.parts:
            _print_part(part, console, words_of(language))
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


def _print_part(part: Part, console: Console, words: dict[str, str]) -> None:
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
        case Living():
            console.print(Text(words["living"], style="dim"))
            print_block(f"$ {part.command}", console, style="cyan")
        case Question():
            title = words["exercise"].format(part.number, part.title)
            console.print(Text(title, style="bold"))
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

    def __init__(
        self, chapter: Chapter, marks: Bookmarks, language: str = "en", *, run: bool = True
    ) -> None:
        self.chapter, self.marks, self.runs = chapter, marks, run
        self.language, self.words = language, words_of(language)
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
            where = self.words["page"].format(self.chapter.number, place + 1, len(pages))
            self.console.rule(where)
            if place == 0:
                print_title(self.chapter, self.console)
            self._show(pages[place])
            key = self._ask(self.words["keys"]).lower() if place < len(pages) - 1 else ""
            if key == "q":
                self._leave()
                return
            place = max(0, place - 1) if key == "b" else place + 1
        self.marks.finished.add(self.chapter.name)
        self.marks.save()
        self.console.print(self.words["done"].format(self.chapter.number))

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
        self.console.print(self.words["left"].format(self.chapter.number))

    def _show(self, page: ChapterPage) -> None:
        _print_heading(page, self.console)
        for part in page.parts:
            _print_part(part, self.console, self.words)
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
            return f"{printed.rstrip()}\n{self.words['not_run']}\n{sample.printed}"
        return printed

    def _ask(self, prompt: str) -> str:
        return self.console.input(Text(prompt, style="dim")).strip()

    def _examine(self, question: Question) -> None:
        """Ask until the answer is right, the solution is shown, or the reader goes on."""
        help_left = [*question.hints, question.solution]
        while True:
            answer = self._ask(self.words["asked"])
            if answer.lower() == "s":
                return
            if answer:
                judgement = judge(question, answer, self.language)
                says = f" {judgement.says}" if judgement.says else ""
                told = self.words["right" if judgement.right else "wrong"]
                self.console.print(f"{told}{says}")
                if judgement.right:
                    self.marks.solved.add(question.number)
                    self.marks.save()
                    print_markdown(question.solution, self.console)
                    return
                continue
            print_markdown(help_left.pop(0), self.console)
            if not help_left:
                return
