"""Files of word vectors: GloVe text, word2vec text (fastText's ``.vec`` too) and binary, or gzip.

GloVe            word number number …                 no header
word2vec text    <count> <width>, then such lines     the same as fastText's .vec
word2vec binary  <count> <width>, then word, space, width float32
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import IO

from regard.errors import FileError, RegardError, nearest
from regard.files import STDIN, opened
from regard.vectors.rows import LONGEST_LINE, Matrix, VectorRows, add_binary, add_text, number

FORMATS = ("auto", "glove", "word2vec", "word2vec-binary", "fasttext")
CHUNK = 1 << 18  # bytes read at a time
WIDEST = 1 << 20  # numbers in a row; wider headers are not headers of word vectors
OTHER_FILES = {
    b"PK\x03\x04": "a zip archive; unpack it and load the file inside",
    b"\xba\x16\x4f\x2f": "a fastText model; load the .vec file that comes with it",
    b"\x93NUMPY": "a NumPy array, which names no words",
    b"\x80\x04": "a Python pickle; save its vectors as word2vec text or binary",
    b"BZh": "packed with bzip2; unpack it first",
    b"\xfd7zXZ": "packed with xz; unpack it first",
}
# Bytes that no text holds and that float32 numbers are full of.
NOT_TEXT = bytes(set(range(32)) - set(b"\t\n\r\x0b\x0c\x1b"))

ReadProgress = Callable[[int, int], None]
"""Called with how much is done, of how much."""


@dataclass(frozen=True)
class Contents:
    """What a file held: words, their vectors, the format, and the words that came again."""

    words: list[str]
    vectors: Matrix
    format: str
    repeated: tuple[str, ...]


@dataclass(frozen=True)
class Header:
    count: int
    width: int
    size: int


def read_vectors(
    path: str | os.PathLike[str],
    format: str = "auto",
    encoding: str = "utf-8",
    progress: ReadProgress | None = None,
) -> Contents:
    """Read a vector file (``-``: standard input) as a stream.

    ``progress(bytes done, bytes in all)`` is called often; not of a pipe, whose end is not known.
    """
    name = os.fspath(path)
    if format not in FORMATS:
        what = f"format must be one of {', '.join(FORMATS)}, got {format!r}"
        raise RegardError(what + nearest(format, FORMATS))
    check_encoding(encoding)
    with opened(name) as (stream, raw):
        chunks = read_chunks(stream, raw, progress)
        first = first_lines(chunks)
        found, header = recognise(name, first, format)
        packed = stream is not raw
        if header and not packed:
            refuse_cut(name, found, header)
        width = header.width if header else first_width(name, first, encoding)
        rows = VectorRows(name, width, encoding)
        body = chain([first[header.size if header else 0 :]], chunks)
        if found == "word2vec-binary" and header:
            add_binary(rows, body, header.count)
        else:
            add_text(rows, body, 2 if header else 1)
        if header and rows.read != header.count:
            raise wrong_count(name, header, rows.read, "rows")
    vectors = rows.finish()
    return Contents(list(rows.index), vectors, found, tuple(rows.repeated))


def check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except (LookupError, ValueError):  # the second for letters that no name has
        what = f"no encoding is called {encoding!r}; try 'utf-8' or 'latin-1'"
        raise RegardError(what) from None


def read_chunks(
    stream: IO[bytes], raw: IO[bytes], progress: ReadProgress | None
) -> Iterator[bytes]:
    size = os.fstat(raw.fileno()).st_size
    while chunk := stream.read(CHUNK):
        yield chunk
        if progress and raw.seekable():
            progress(min(raw.tell(), size), size)


def first_lines(chunks: Iterator[bytes]) -> bytes:
    """The first chunk, and more if it does not reach the end of the first line."""
    first = next(chunks, b"").removeprefix(codecs.BOM_UTF8)
    while b"\n" not in first and len(first) < LONGEST_LINE and (more := next(chunks, b"")):
        first += more
    return first


def recognise(path: str, first: bytes, format: str) -> tuple[str, Header | None]:
    """The format by the content, or the one asked for if the content allows it."""
    if not first.strip():
        raise FileError(f"{path!r} is empty; a file of word vectors has one word a line")
    for magic, what in OTHER_FILES.items():
        if first.startswith(magic):
            raise FileError(f"{path!r} is {what}")
    header = parse_header(first)
    if format == "glove" or (format == "auto" and not header):
        return "glove", None
    if not header:
        start = first.split(b"\n", 1)[0][:40].decode("latin-1")
        what = "must begin with a line '<count> <width>'; GloVe files have none: format 'glove'"
        raise FileError(f"{path!r} is not a {format} file: it {what}; got {start!r}")
    if not header.count or not 1 <= header.width <= WIDEST:
        what = f"at least one row and a width of 1 to {WIDEST:,}; get the file again"
        got = f"{header.count} and {header.width}"
        raise FileError(f"the header of {path!r} must promise {what}; got {got}")
    possible = possible_formats(first[header.size :], header)
    wanted = {"auto": possible[0], "fasttext": "word2vec"}.get(format, format)
    if wanted not in possible:
        what = f"behind its header it looks {possible[0]}"
        raise FileError(f"{path!r} is not a {format} file: {what}")
    return wanted, header


def parse_header(first: bytes) -> Header | None:
    line, end, _ = first[:128].partition(b"\n")
    fields = line.split()
    if not end or len(fields) != 2 or not all(f.isdigit() for f in fields):
        return None
    return Header(int(fields[0]), int(fields[1]), len(line) + 1)


def possible_formats(body: bytes, header: Header) -> list[str]:
    """What may follow the header, the likeliest first.

    A few float32 numbers may happen to be printable; then a whole file of rows decides.
    """
    if any(byte in NOT_TEXT for byte in body[:65536]):
        return ["word2vec-binary"]
    fields = body.split(b"\n", 1)[0].split()
    numbers = [number(field) is not None for field in fields[1:]]
    whole = len(body) < 65536 and holds_binary_rows(body, header)
    if len(numbers) >= header.width and all(numbers[-header.width :]):
        return ["word2vec", "word2vec-binary"] if whole else ["word2vec"]
    if whole:
        return ["word2vec-binary"]
    return ["word2vec"] if any(numbers) or is_utf8(body) else ["word2vec-binary"]


def holds_binary_rows(body: bytes, header: Header) -> bool:
    """Whether ``body`` is exactly the promised number of binary rows."""
    at = 0
    for _ in range(header.count):
        space = body.find(b" ", at)
        if space < 0:
            return False
        at = space + 1 + 4 * header.width
    return at <= len(body) and not body[at:].strip()


def is_utf8(body: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True


def first_width(path: str, first: bytes, encoding: str) -> int:
    """How many numbers end the first line of a file without a header."""
    line = first.split(b"\n", 1)[0].rstrip()
    fields = line.split()
    try:
        (fields[0] if fields else b"").decode(encoding)
    except UnicodeDecodeError as error:
        what = f"{path!r}, line 1: not {encoding.upper()}, so not a file of word vectors"
        raise FileError(f"{what}; if you know the encoding, name it (--encoding)") from error
    width = 0
    while width < len(fields) - 1 and number(fields[-1 - width]) is not None:
        width += 1
    if not width:
        what = "must begin with '<count> <width>' or with 'word number number …'"
        got = line[:40].decode("latin-1")
        raise FileError(f"{path!r} is not a file of word vectors: it {what}; got {got!r}")
    return width


def refuse_cut(path: str, format: str, header: Header) -> None:
    """Compare the header with what the file can hold at most, before anything is read.

    A binary row takes at least 1 + 4·width bytes, a text row 2·width + 1 and one line: counting
    the line ends takes a hundredth of the time of reading the numbers.
    """
    if path == STDIN:
        return
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        return
    room = status.st_size - header.size + 1  # the last line end may be missing
    row = (4 if format == "word2vec-binary" else 2) * header.width + 1
    if header.count * row > room:
        raise wrong_count(path, header, room // row, "rows at most")
    if format == "word2vec":
        with open(path, "rb") as file:
            lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(CHUNK), b""))
            file.seek(-1, os.SEEK_END)
            lines += file.read(1) != b"\n"
        if lines - 1 < header.count:
            raise wrong_count(path, header, lines - 1, "lines after it")


def wrong_count(path: str, header: Header, held: int, rows: str) -> FileError:
    what = f"the header of {path!r} promises {header.count:,} rows of {header.width} numbers"
    advice = "the file is cut: get it again" if held < header.count else "the header is wrong"
    return FileError(f"{what}, the file holds {held:,} {rows}; {advice}")
