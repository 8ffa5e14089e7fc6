"""Where a command's text comes from: its arguments, a file, a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from regard.errors import RegardError
from regard.files import STDIN


def texts_of(sentences: Sequence[str], file: str | None, verb: str) -> list[str]:
    """The arguments, a file's lines, or what is piped in (``-``, or nothing at all); ``verb`` is
    what will be done to them."""
    if sentences and file is not None:
        raise RegardError("give sentences or --file, not both")
    if sentences and tuple(sentences) != (STDIN,):
        return [" ".join(s.split()) for s in sentences]
    if not sentences and file is None and sys.stdin is not None and sys.stdin.isatty():
        raise RegardError(f"nothing to {verb}: give a sentence, --file FILE, or pipe text in")
    from regard.train.data.lines import read_lines

    return read_lines(STDIN if file is None else file)


def read_text(text: str | None, file: str | None) -> str:
    """The text itself, or that of a file; ``-`` is standard input."""
    if (text is None) == (file is None):
        got = "neither" if text is None else "both"
        raise RegardError(f"give a TEXT (- for standard input) or --file FILE; got {got}")
    from regard.pieces.text import check_text

    content = text or ""
    if file is not None or text == STDIN:
        from regard.train.data.lines import read_lines

        content = "\n".join(read_lines(STDIN if file is None else file))
    check_text(content)
    return content
