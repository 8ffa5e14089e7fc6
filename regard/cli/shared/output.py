"""Where a command's JSON goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from regard.files import write_text
from regard.text import visible

if TYPE_CHECKING:
    from regard.views.page import Subject


def write_json(text: str, to: str) -> None:
    """Write to a file, atomically, or to standard output if ``to`` is ``-``."""
    if to == "-":
        click.echo(text)
    else:
        write_text(to, text + "\n")


def write_page(to: str, *subjects: Subject, quietly: bool = False) -> None:
    """Write a page and say so, on stderr if standard output is for a program."""
    from regard.views.page import save_html

    save_html(to, *subjects)
    click.echo(f"Written: {visible(to)}", err=quietly)
