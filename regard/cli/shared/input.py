"""Where a command's sentences come from."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from regard.errors import RegardError


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
