"""Where a command's text comes from: its arguments, a file, a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from regard.errors import FileError, RegardError


def check_file(path: str) -> None:
    """Raise unless the file can be read; asked before any work begins."""
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise FileError(f"cannot read {path!r}: {error.strerror}") from error


def texts_of(sentences: Sequence[str], file: str | None, verb: str) -> list[str]:
    """The arguments, a file's lines, or what is piped in; ``verb`` is what will be done to them."""
    if sentences and file is not None:
        raise RegardError("give sentences or --file, not both")
    if sentences:
        return [" ".join(s.split()) for s in sentences]
    if file is None and sys.stdin is not None and sys.stdin.isatty():
        raise RegardError(f"nothing to {verb}: give a sentence, --file FILE, or pipe text in")
    from regard.train.data.lines import read_lines

    return read_lines(file or "-")


def read_text(text: str | None, file: str | None) -> str:
    """The text itself, or that of a file; ``-`` is standard input."""
    if (text is None) == (file is None):
        got = "neither" if text is None else "both"
        raise RegardError(f"give a TEXT (- for standard input) or --file FILE; got {got}")
    from regard.pieces.text import check_text

    content = text or ""
    if file is not None or text == "-":
        from regard.train.data.lines import read_lines

        content = "\n".join(read_lines("-" if file is None else file))
    check_text(content)
    return content
