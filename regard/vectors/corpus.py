"""A text to train on, read again for every epoch: from a file as a stream, or from lists."""

from __future__ import annotations

import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, cast

from regard.errors import FileError, RegardError
from regard.files import STDIN, is_stream, name_of, opened, share_read
from regard.pieces.tokenise import split
from regard.vectors.file import ReadProgress, check_encoding

LONGEST = 10_000  # words; Gensim silently drops the rest of a longer sentence


class WordCorpus(ABC):
    """Sentences, as lists of words, that can be read more than once.

    Gensim reads them in a thread of its own, and waits for ever if that thread fails: so a
    failure ends the sentences, and ``raise_failure`` raises it in the caller's thread.
    """

    name: str
    sentences = 0
    cut_lines = 0

    def __init__(self, passes: int, progress: ReadProgress | None) -> None:
        self.passes = passes
        self.progress = progress
        self.pass_number = 0
        self.failure: BaseException | None = None

    @abstractmethod
    def read(self) -> Iterator[tuple[list[str], float]]:
        """Each sentence, with the share of the text that is read."""

    def __iter__(self) -> Iterator[list[str]]:
        sentences = cut = 0
        try:
            for tokens, share in self.read():
                if not tokens:
                    continue
                sentences += 1
                cut += len(tokens) > LONGEST
                yield from (tokens[i : i + LONGEST] for i in range(0, len(tokens), LONGEST))
                if self.progress and sentences % 256 == 0:
                    self.report(share)
            if self.progress:
                self.report(1.0)
        except Exception as error:
            self.failure = error
        self.sentences, self.cut_lines = sentences, cut
        self.pass_number += 1

    def report(self, share: float) -> None:
        """Progress in thousandths of a pass over the text."""
        if self.progress:
            self.progress(int(1000 * (self.pass_number + share)), 1000 * self.passes)

    def raise_failure(self) -> None:
        if self.failure:
            raise self.failure


class FileCorpus(WordCorpus):
    """The lines of a text file, plain or gzip."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        lower: bool,
        spaces: bool,
        encoding: str,
        passes: int,
        progress: ReadProgress | None,
    ) -> None:
        super().__init__(passes, progress)
        self.path = os.fspath(path)
        self.name = name_of(path)
        self.lower, self.spaces, self.encoding = lower, spaces, encoding
        check_encoding(encoding)
        self.kept = None
        if self.path == STDIN or is_stream(path):
            self.kept = _kept(path)  # a pipe can be read once, and it is read `passes` times
            self.path = self.kept.name

    def read(self) -> Iterator[tuple[list[str], float]]:
        with opened(self.path) as (stream, raw):
            for number, line in enumerate(stream, 1):
                text = self.decode(line, number)
                text = text.lower() if self.lower else text
                yield text.split() if self.spaces else split(text), share_read(raw)

    def decode(self, line: bytes, number: int) -> str:
        try:
            return line.decode(self.encoding).removeprefix("\ufeff" if number == 1 else "")
        except UnicodeDecodeError as error:
            what = f"{line[error.start : error.start + 8]!r} is not {self.encoding.upper()}"
            advice = "if you know the encoding, name it (encoding='latin-1', --encoding latin-1)"
            raise FileError(f"{self.name}, line {number}: {what}; {advice}") from error


def _kept(path: str | os.PathLike[str]) -> IO[bytes]:
    """A copy, as it is, of what a pipe holds; it goes with the object."""
    copy = tempfile.NamedTemporaryFile(prefix="regard-")  # noqa: SIM115
    with opened(path) as (stream, _):
        shutil.copyfileobj(stream, copy)
    copy.flush()
    return cast(IO[bytes], copy)


class ListCorpus(WordCorpus):
    """Sentences given as lists of words."""

    name = "the list of sentences"

    def __init__(
        self, sentences: Iterable[Sequence[str]], passes: int, progress: ReadProgress | None
    ) -> None:
        super().__init__(passes, progress)
        # An iterator could be read only once.
        self.lists = list(sentences) if iter(sentences) is sentences else sentences
        if any(isinstance(sentence, str) for sentence in self.lists):
            raise RegardError(
                "a sentence must be a list of words, got a string; cut it with tokenise()"
            )

    def read(self) -> Iterator[tuple[list[str], float]]:
        total = len(self.lists) if isinstance(self.lists, Sequence) else 0
        for number, sentence in enumerate(self.lists, 1):
            yield list(sentence), number / total if total else 0.0
