"""The console of commands: plain text in a pipe, no spaces at the ends of lines."""

from __future__ import annotations

import io

import pytest
from rich.table import Table

from regard.views.terminal.console import make_console


def test_no_markup_and_no_trailing_spaces() -> None:
    file = io.StringIO()
    console = make_console(file)
    table = Table(box=None)
    table.add_column("a", width=20)
    table.add_row("[bold]x[/bold] :smile:")
    console.print(table)
    assert file.getvalue() == " a\n [bold]x[/bold]\n :smile:\n"


def test_as_wide_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_console(io.StringIO()).width == 80
    monkeypatch.setenv("COLUMNS", "53")
    assert make_console(io.StringIO()).width == 53


def test_a_closed_pipe_is_left_to_the_command() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        make_console(Closed()).print("a")
