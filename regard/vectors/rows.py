"""Rows of a vector file: one growing matrix, and the two ways a row is written (text, binary)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError

Matrix = NDArray[np.float32]

LONGEST_LINE = 1 << 26  # bytes; a line beyond it is not a row of a vector file
LONGEST_WORD = 1 << 14  # bytes, in a binary file
GROWTH = 1.125  # what is reserved beyond the rows read so far, at most


@dataclass
class VectorRows:
    """Words and their vectors, in one float32 array that grows where it lies.

    ``ndarray.resize`` reallocates in place, so at no time are there two copies; and what a header
    promises is never reserved, only what was read.
    """

    path: str
    width: int
    encoding: str
    index: dict[str, int] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    read: int = 0

    def __post_init__(self) -> None:
        self.vectors: Matrix = np.empty((0, self.width), dtype=np.float32)

    def fail(self, where: str, what: str) -> FileError:
        return FileError(f"{self.path!r}, {where}: {what}")

    def add(self, words: list[bytes], block: Matrix, where: list[str]) -> None:
        """Append rows; of a word that comes again, the first row stays and the word is noted."""
        bad = ~np.isfinite(block).all(axis=1)
        if bad.any():
            first = int(bad.argmax())
            value = block[first][~np.isfinite(block[first])][0]
            word = words[first].decode(self.encoding, "replace")
            what = f"the vector of {word!r} holds {value}; every number must be finite in float32"
            raise self.fail(where[first], what)
        start = len(self.index)
        keep: list[int] = []
        for row, raw in enumerate(words):
            word = self.decode(raw, where[row])
            if word in self.index:
                self.repeated.append(word)
            else:
                self.index[word] = start + len(keep)
                keep.append(row)
        self.read += len(words)
        self.reserve(start + len(keep))
        self.vectors[start : start + len(keep)] = block if len(keep) == len(block) else block[keep]

    def decode(self, raw: bytes, where: str) -> str:
        try:
            return raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            what = f"{raw!r} is not {self.encoding.upper()}; if you know the encoding, name it"
            raise self.fail(where, f"{what} (encoding='latin-1', --encoding latin-1)") from error

    def reserve(self, rows: int) -> None:
        if rows > len(self.vectors):
            self.resize(int(rows * GROWTH))

    def resize(self, rows: int) -> None:
        try:
            # No view of the array outlives a call of add, so that nothing can point into the old.
            self.vectors.resize((rows, self.width), refcheck=False)
        except MemoryError as error:
            what = f"{rows:,} rows of {self.width} numbers do not fit in memory"
            raise self.fail(f"after {self.read:,} rows", what) from error

    def finish(self) -> Matrix:
        self.resize(len(self.index))
        return self.vectors


def add_text(rows: VectorRows, chunks: Iterator[bytes], line: int) -> None:
    """Read ``word number number …`` lines; ``line`` is the number of the first."""
    rest = b""
    for chunk in chunks:
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if len(rest) > LONGEST_LINE:
            what = f"no line end in {LONGEST_LINE:,} bytes; this is not a file of word vectors"
            raise rows.fail(f"line {line + len(lines)}", what)
        add_lines(rows, lines, line)
        line += len(lines)
    add_lines(rows, [rest], line)


def add_lines(rows: VectorRows, lines: list[bytes], first: int) -> None:
    """Parse a block of lines at once; where that fails, one by one, to say which is wrong."""
    pairs = [line.rstrip().partition(b" ") for line in lines]
    tails = [tail.decode("latin-1") for _, _, tail in pairs]
    if tails and all(tails):
        try:
            block = np.loadtxt(tails, dtype=np.float32, comments=None, ndmin=2)
        except ValueError:
            block = np.empty((0, 0), dtype=np.float32)
        if block.shape == (len(lines), rows.width):
            where = [f"line {first + i}" for i in range(len(lines))]
            return rows.add([head for head, _, _ in pairs], block, where)
    for number, line in enumerate(lines, first):
        if line.strip():
            word, values = parse_row(rows, line.rstrip(), f"line {number}")
            with np.errstate(over="ignore"):  # becomes inf, which add() refuses by name
                block = np.array([values], dtype=np.float64).astype(np.float32)
            rows.add([word], block, [f"line {number}"])
    return None


def parse_row(rows: VectorRows, line: bytes, where: str) -> tuple[bytes, list[float]]:
    """The word and the last ``width`` fields as numbers: a few words of real files hold spaces."""
    fields = line.rsplit(None, rows.width)
    if line[:1].isspace() and len(fields) == rows.width:
        fields.insert(0, b"")  # an empty word, which a few real files hold
    word = fields[0].decode(rows.encoding, "replace")[:40]
    expected = f"{rows.width} numbers expected after the word {word!r}"
    if len(fields) <= rows.width:
        what = f"{expected}, got {len(line.split()) - 1}; the row is short or the file is cut"
        raise rows.fail(where, what)
    values = [number(f) for f in fields[1:]]
    if None in values:
        wrong = fields[1 + values.index(None)].decode("latin-1")[:40]
        raise rows.fail(where, f"{expected}, got {wrong!r} among them")
    if spaced_number(fields[0]):
        what = f"{rows.width} numbers expected, got more: {line[:40].decode('latin-1')!r}…"
        raise rows.fail(where, what)
    return fields[0], [v for v in values if v is not None]


def spaced_number(word: bytes) -> bool:
    """Whether a word with spaces ends in a number: then the row has too many, not the word."""
    parts = word.split()
    return len(parts) > 1 and number(parts[-1]) is not None


def number(field: bytes) -> float | None:
    """A number as files write it; not Python's ``1_000``."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def add_binary(rows: VectorRows, chunks: Iterator[bytes], promised: int) -> None:
    """Read ``word``, a space, ``4 · width`` bytes (little-endian float32), as word2vec.c writes."""
    size, buffer, left = 4 * rows.width, b"", promised
    for chunk in chunks:
        buffer += chunk
        words: list[bytes] = []
        starts: list[int] = []
        at = 0
        while len(words) < left:
            space = buffer.find(b" ", at, at + LONGEST_WORD)
            if space < 0 and len(buffer) - at >= LONGEST_WORD:
                what = f"no word ends in {LONGEST_WORD:,} bytes; not a binary word2vec file"
                raise rows.fail(f"row {rows.read + len(words) + 1}", what)
            if space < 0 or space + 1 + size > len(buffer):
                break
            words.append(buffer[at:space].lstrip(b"\n"))  # word2vec.c ends a row with a newline
            starts.append(space + 1)
            at = space + 1 + size
        if words:
            block = np.empty((len(words), rows.width), dtype=np.float32)
            for row, start in enumerate(starts):
                block[row] = np.frombuffer(buffer, "<f4", rows.width, start)
            where = [f"row {rows.read + i + 1}" for i in range(len(words))]
            rows.add(words, block, where)
            left -= len(words)
        buffer = buffer[at:]
        if not left and buffer.strip():
            what = f"the header promises {promised:,} rows of {rows.width}, but the file goes on"
            raise rows.fail(f"row {promised + 1}", what)
