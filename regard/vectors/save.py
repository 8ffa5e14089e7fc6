"""Writing word vectors: word2vec text or binary, by the file's name, plain or gzip."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, cast

import numpy as np

from regard.errors import FileError, RegardError
from regard.files import replacing
from regard.vectors.rows import LONGEST_WORD, Matrix, spaced_number

BLOCK = 1024  # rows formatted at a time


def save_format(path: str | os.PathLike[str]) -> str:
    """``word2vec`` (text) for .txt and .vec, ``word2vec-binary`` for .bin, each with .gz or not."""
    name = Path(path).name.lower().removesuffix(".gz")
    if name.endswith((".txt", ".vec")):
        return "word2vec"
    if name.endswith(".bin"):
        return "word2vec-binary"
    what = "must end in .txt or .vec (text) or .bin (binary), with .gz behind it to pack it"
    raise FileError(f"the name of a vector file {what}; got {os.fspath(path)!r}")


def write_vectors(path: str | os.PathLike[str], words: list[str], vectors: Matrix) -> None:
    """Write all rows; the file at ``path`` is replaced only when the new one is whole."""
    format = save_format(path)
    refuse = binary_refuses if format == "word2vec-binary" else text_refuses
    for word in words:
        if reason := refuse(word):
            raise RegardError(f"a {format} file cannot hold the word {word!r}: {reason}")
    blocks = binary_blocks if format == "word2vec-binary" else text_blocks
    with replacing(path) as temporary, ExitStack() as stack:
        file = cast(IO[bytes], stack.enter_context(open(temporary, "wb")))
        if temporary.name.lower().endswith(".gz"):
            # No name and no time in it: the same vectors always make the same file.
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            file = cast(IO[bytes], stack.enter_context(packed))
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for block in blocks(words, vectors):
            file.write(block)


def text_blocks(words: list[str], vectors: Matrix) -> Iterator[bytes]:
    for start in range(0, len(words), BLOCK):
        block = vectors[start : start + BLOCK]
        lines = [" ".join(row.astype(str).tolist()) for row in block]
        # The shortest text that names a float32 is read by way of a float64, and rounding twice
        # can, in theory, miss: nine digits never do.
        again = np.loadtxt(lines, dtype=np.float32, comments=None, ndmin=2)
        for row in np.flatnonzero((again != block).any(axis=1)):
            lines[row] = " ".join(f"{value:.9g}" for value in block[row].tolist())
        named = zip(words[start : start + BLOCK], lines, strict=True)
        yield "".join(f"{word} {line}\n" for word, line in named).encode()


def binary_blocks(words: list[str], vectors: Matrix) -> Iterator[bytes]:
    for word, row in zip(words, vectors, strict=True):
        yield word.encode() + b" " + row.astype("<f4").tobytes()


def text_refuses(word: str) -> str:
    """Why a text file cannot hold ``word``, or nothing: its reader must find the same word."""
    raw = word.encode("utf-8", "replace")
    if "\n" in word:
        return "it holds a line end, and a row is a line"
    if raw != raw.rstrip():
        return "it ends in white space, where its numbers begin"
    if spaced_number(raw):
        return "it has a space and then a number, which would be read as part of the vector"
    return unwritable(word)


def binary_refuses(word: str) -> str:
    """Why a binary file cannot hold ``word``, or nothing: there, a space ends the word."""
    if " " in word or word.startswith("\n"):
        return "it holds a space, which ends a word there; save as text (.vec) instead"
    if len(word.encode("utf-8", "replace")) >= LONGEST_WORD:
        return f"it is longer than {LONGEST_WORD:,} bytes"
    return unwritable(word)


def unwritable(word: str) -> str:
    return (
        "" if word.isascii() or word.encode("utf-8", "ignore").decode() == word else "not Unicode"
    )
