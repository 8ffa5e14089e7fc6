"""Runner: the samples of a chapter, in their order, in one folder and one Python."""

from __future__ import annotations

import contextlib
import io
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

from regard.learn.chapter import Sample, Written

Command = Callable[[list[str]], str]
"""Runs ``regard`` with these arguments and gives what it prints, errors included."""


class Runner:
    """What the samples of one chapter share: a folder, and the names that its Python defines."""

    def __init__(self, folder: Path, command: Command) -> None:
        self.folder, self.command = folder, command
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def write(self, file: Written) -> None:
        (self.folder / file.name).write_text(file.text, encoding="utf-8")

    def run(self, sample: Sample) -> str:
        """What a sample prints."""
        with contextlib.chdir(self.folder):
            if sample.language == "console":
                return self.command(shlex.split(sample.source)[1:])
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(sample.source, "<sample>", "exec"), self.names)
            return printed.getvalue()
