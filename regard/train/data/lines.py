"""Lines of a text file, plain, gzip or from a pipe; what is not UTF-8 text is said, not guessed."""

from __future__ import annotations

import os

from regard.errors import DataError
from regard.files import name_of, read_bytes


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The lines of a UTF-8 file without their ends; ``-`` is standard input.

    gzip is known by its first bytes, not by the file's name. Only ``\\n`` and ``\\r\\n`` end a
    line: other characters that Unicode calls line separators stay inside the sentence, so that
    two aligned files cannot fall out of step.
    """
    data = read_bytes(path)
    if not data:
        raise DataError(f"{name_of(path)} is empty")
    text = _decode(data, name_of(path))
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def one_cell(text: str) -> str:
    """A sentence as a table can hold it: what would end its cell or its line is a space."""
    return text.replace("\t", " ").replace("\r", " ").strip()


def _decode(data: bytes, name: str) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{name} is UTF-16; text must be UTF-8: iconv -f UTF-16 -t UTF-8 converts it"
        )
    zero = data.find(b"\0")
    if zero >= 0:
        raise DataError(f"{name} is a binary file, not text: it has a zero byte at byte {zero + 1}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        bad = data[error.start]
        raise DataError(
            f"{name} is not UTF-8: line {line}, byte {column} of the line is 0x{bad:02x}; "
            "iconv -f LATIN1 -t UTF-8 converts the most common other encoding"
        ) from error
