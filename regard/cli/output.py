"""Where a command's JSON goes."""

from __future__ import annotations

import click

from regard.files import write_text


def write_json(text: str, to: str) -> None:
    """Write to a file, atomically, or to standard output if ``to`` is ``-``."""
    if to == "-":
        click.echo(text)
    else:
        write_text(to, text + "\n")
