"""Tagged: sentences with a label for each word, in columns: a word a line, a blank line between.

CoNLL-U is known by its ten columns and its numbers: the words are in the second, and ranges (3-4)
and empty nodes (5.1) are none. Of any other file the word is in the first column, the label in the
last.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from regard.errors import DataError
from regard.files import name_of
from regard.text import visible
from regard.train.data.examples import Examples
from regard.train.data.labelled import MOST, label_order
from regard.train.data.lines import read_lines

CONLLU = {"lemma": 3, "upos": 4, "xpos": 5, "feats": 6, "head": 7, "deprel": 8, "misc": 10}
"""Names of the columns of CoNLL-U that may be labels, from 1."""
USUAL = CONLLU["upos"]
DOCUMENT = "-DOCSTART-"
"""The word that begins a document in the files of CoNLL 2003."""


class Tagged(NamedTuple):
    """A sentence, the label of each of its words, and the line it began on (from 1)."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    number: int = 0

    def texts(self) -> tuple[str, ...]:
        return (" ".join(self.words),)

    def line(self) -> str:
        """As it stands in a file: a word and its label a line, and the end of the last."""
        return "".join(f"{word}\t{label}\n" for word, label in zip(*self[:2], strict=True))


def read_tagged(path: str | os.PathLike[str], column: str = "") -> Examples[Tagged]:
    """The sentences of a file in columns; ``column`` has the labels, by number or name."""
    name = name_of(path)
    lines = read_lines(path)
    universal = _is_universal(lines)
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    between = "\t" if "\t" in first else None
    wanted = len(first.split(between))
    word_at, label_at = _columns(column, universal, wanted, name)
    rows: list[Tagged] = []
    words: list[tuple[str, str]] = []
    begun = 1
    for number, line in enumerate([*lines, ""], 1):
        if not line.strip():
            if words:
                rows.append(Tagged(tuple(w for w, _ in words), tuple(x for _, x in words), begun))
            words, begun = [], number + 1
            continue
        cells = line.split(between)
        if (universal and line.startswith("#")) or cells[0] == DOCUMENT:
            continue
        if len(cells) != wanted:
            raise DataError(
                f"{name}, line {number}: {wanted} columns are wanted, as the first line has them; "
                f"got {len(cells)}: {visible(line[:40])!r}"
            )
        if universal and not cells[0].isdecimal():
            continue
        words.append((_one(cells[word_at], name, number), _one(cells[label_at], name, number)))
    if not rows:
        raise DataError(f"{name} has no words: a word and its label a line")
    _check_many(rows, name)
    return Examples(rows, [])


def _is_universal(lines: Sequence[str]) -> bool:
    """Whether the first line that is no remark has CoNLL-U's ten columns, a number first."""
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    cells = first.split("\t")
    return len(cells) == 10 and cells[0].replace("-", "").isdecimal()


def _columns(column: str, universal: bool, count: int, name: str) -> tuple[int, int]:
    """The places of the word and of the label, from 0."""
    if count < 2:
        raise DataError(
            f"{name} has one column: a word and its label a line, a tab or blanks between, and a "
            "blank line between sentences"
        )
    word = 1 if universal else 0
    if not column:
        return word, USUAL - 1 if universal else count - 1
    if universal and column.lower() in CONLLU:
        return word, CONLLU[column.lower()] - 1
    if not column.isdecimal() or not 1 <= int(column) <= count or int(column) - 1 == word:
        names = f", or {', '.join(CONLLU)}" if universal else ""
        raise DataError(
            f"the column of the labels is a number from 1 to {count} but not that of the words "
            f"({word + 1}){names}; got {visible(column)!r}"
        )
    return word, int(column) - 1


def _one(cell: str, name: str, number: int) -> str:
    """What a cell holds as one word: a blank inside would make it two."""
    found = "_".join(cell.split())
    if not found:
        raise DataError(f"{name}, line {number}: a word or its label is missing")
    return found


def _check_many(rows: Iterable[Tagged], name: str) -> None:
    labels = {label for row in rows for label in row.labels}
    if len(labels) > MOST:
        raise DataError(
            f"{name} has {len(labels):,} different labels, such as {min(labels)!r}: is this the "
            "column of the labels? --column names another"
        )


def tags_of(rows: Iterable[Tagged]) -> list[str]:
    """The labels that occur, in order."""
    return sorted({label for row in rows for label in row.labels}, key=label_order)


def check_tags(rows: Iterable[Tagged], labels: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Raise if a word has a label that is not among ``labels``."""
    known = set(labels)
    for row in rows:
        for word, label in zip(row.words, row.labels, strict=True):
            if label not in known:
                some = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
                raise DataError(
                    f"{name_of(path)}, the sentence on line {row.number}: {visible(word)!r} has "
                    f"the label {label!r}, which does not occur in training; it has {some}"
                )
