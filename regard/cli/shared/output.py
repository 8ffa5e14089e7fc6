"""Where a command's JSON, pages and pictures go, and its notes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from regard.errors import RegardError
from regard.files import STDIN, check_writable, is_stream, write_text
from regard.text import visible

if TYPE_CHECKING:
    from regard.pieces.pieces import Pieces
    from regard.pieces.sheet import Subject
    from regard.pieces.unknown import Unknown
    from regard.trace import Trace


PICTURES = ("png", "svg")


def check_outputs(*read: str | None, **files: str | None) -> None:
    """What can be known to be wrong with the files of these options is said before any work; none
    of them may be one that is ``read``."""
    inputs = {os.path.realpath(file) for file in read if file is not None and file != STDIN}
    seen: dict[str, str] = {}
    for option, file in files.items():
        if file is None or (file == "-" and option == "json"):
            continue
        if file == "-":
            raise RegardError(f"--{option} takes a file: - is standard output for --json alone")
        check_writable(file)
        if is_stream(file):
            continue
        if option in PICTURES and not file.lower().endswith(f".{option}"):
            raise RegardError(f"--{option} takes a file that ends in .{option}; got {file!r}")
        place = os.path.realpath(file)
        if place in inputs:
            raise RegardError(f"--{option} would write over {file!r}, which is read: name another")
        if place in seen:
            raise RegardError(f"--{seen[place]} and --{option} name the same file: {file!r}")
        seen[place] = option


def check_single(count: int, **options: str | None) -> None:
    """Raise for options that take one sentence, if there are more (or none)."""
    for name, path in options.items():
        if path is not None and count != 1:
            raise RegardError(f"--{name} takes one sentence, got {count}")


def write_json(text: str, to: str) -> None:
    """Write to a file, atomically, or to standard output if ``to`` is ``-``."""
    if to == "-":
        click.echo(text)
    else:
        write_text(to, text + "\n")


def write_json_lines(lines: Iterable[str], to: str) -> None:
    """One JSON object a line; on standard output each as soon as it is there."""
    if to == "-":
        for line in lines:
            click.echo(line)
    else:
        write_text(to, "".join(f"{line}\n" for line in lines))


def write_page(to: str, *subjects: Subject, quietly: bool = False, below: str = "") -> None:
    """Write a page and say so, on stderr if standard output is for a program."""
    from regard.views.page import save_html

    save_html(to, *subjects, below=below)
    say_written(to, quietly=quietly)


def write_trace_page(
    to: str,
    trace: Trace,
    title: str,
    model: str,
    read: Pieces,
    quietly: bool,
    start: dict[str, Any] | None = None,
    notes: Sequence[str] = (),
    shown: Pieces | None = None,
) -> None:
    """Write a page of what a model noted while it read these pieces; ``notes`` stand at its top,
    and ``shown`` are the same pieces with what is said of them."""
    from regard.pieces.unknown import Unknown
    from regard.views.page import subject_of_trace

    note = Unknown(read).note(model)
    said = [*notes, note] if note else notes
    subject = subject_of_trace(trace, title, model=model, notes=said, start=start, text=read)
    if not subject.sheets:
        raise RegardError(
            f"{trace.mechanism or model} has no attention, and a page shows attention"
        )
    if shown is not None:
        subject.texts[0] = replace(shown, name=subject.texts[0].name)
    write_page(to, subject, quietly=quietly)


def say_written(*files: str | None, quietly: bool = False) -> None:
    """``Written: …``: the files there are, on stderr if standard output is for a program."""
    there = [visible(file) for file in files if file and file != "-"]
    if there:
        click.echo(f"Written: {', '.join(there)}", err=quietly)


def note_unknown(unknown: Unknown, model: str, **how: str) -> None:
    """Say on stderr what of a text ``model`` could not read, if there is anything."""
    if unknown:
        click.echo(f"regard: note: {visible(unknown.note(model, **how))}", err=True)
