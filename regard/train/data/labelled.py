"""Labelled: sentences with their labels, read, divided, cut into tokens; all of it counted."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from regard.errors import DataError
from regard.files import write_text
from regard.pieces.tokenizer import Tokenizer
from regard.text import visible
from regard.train.data.config import LabelledConfig
from regard.train.data.corpus import MENTIONED, numbered
from regard.train.data.lines import name_of, read_lines
from regard.train.data.split import normalised, places
from regard.train.data.text import TextLine, encode, without_long

MOST = 1000
"""Labels; more are a sign that the label does not come first."""


class Labelled(NamedTuple):
    """A sentence and its label, and the line they came from (from 1)."""

    label: str
    text: str
    number: int = 0


@dataclass(frozen=True)
class LabelledLines:
    """All of one file."""

    rows: list[Labelled]
    empty: list[int]
    """Lines without a sentence."""

    def digest(self) -> str:
        """A fingerprint of labels and sentences in their order."""
        text = "\n".join(f"{row.label}\t{row.text}" for row in self.rows)
        return hashlib.sha256(text.encode()).hexdigest()

    def labels(self) -> list[str]:
        """The labels that occur, numbers in their order before words in theirs."""

        def order(label: str) -> tuple[bool, int, str]:
            number = label.isdecimal()
            return not number, int(label) if number else 0, label

        return sorted({row.label for row in self.rows}, key=order)


def read_labelled(path: str | os.PathLike[str]) -> LabelledLines:
    """``label sentence`` lines; with a tab in the first line, ``label TAB sentence``."""
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    between = "\t" if "\t" in first else None
    rows: list[Labelled] = []
    empty: list[int] = []
    for number, line in enumerate(lines, 1):
        label, *rest = line.strip().split(between, 1) or [""]
        text = " ".join(rest[0].split()) if rest else ""
        if text:
            rows.append(Labelled(label.strip(), text, number))
        else:
            empty.append(number)
    name = name_of(path)
    if not rows:
        raise DataError(f"none of the {len(lines)} lines of {name} has a label and a sentence")
    labels = {row.label for row in rows}
    if len(labels) > MOST:
        raise DataError(
            f"{name} has {len(labels):,} different labels, such as {sorted(labels)[0]!r}; "
            "the label comes first, then a tab or a space, then the sentence"
        )
    return LabelledLines(rows, empty)


@dataclass(frozen=True)
class LabelledText:
    """What was read, before any token."""

    labels: list[str]
    train: list[Labelled]
    valid: list[Labelled]
    test: list[Labelled]
    empty: list[int]
    digest: str
    overlap: int
    """Training sentences that are also in a validation or test file of the user's."""


def read_text(config: LabelledConfig) -> LabelledText:
    """Read all files of the config and divide the sentences."""
    assert config.file is not None, "LabelledConfig checks this"
    main = read_labelled(config.file)
    labels = main.labels()
    if len(labels) < 2:
        raise DataError(
            f"{name_of(config.file)} has one label, {labels[0]!r}: there is nothing to tell apart"
        )
    given = [read_labelled(path) if path else None for path in (config.valid, config.test)]
    for path, part in zip((config.valid, config.test), given, strict=True):
        if part and path:
            check_labels(part.rows, labels, path)
    shares = 0.0 if given[0] else config.valid_share, 0.0 if any(given) else config.test_share
    found = places([normalised(row.text) for row in main.rows], *shares, config.split_seed)
    parts = [
        [row for row, place in zip(main.rows, found, strict=True) if place == part]
        for part in ("train", "valid", "test")
    ]
    held = {normalised(row.text) for part in given if part for row in part.rows}
    return LabelledText(
        labels,
        parts[0],
        given[0].rows if given[0] else parts[1],
        given[1].rows if given[1] else parts[2],
        main.empty,
        " ".join(part.digest()[:16] for part in (main, *given) if part),
        sum(normalised(row.text) in held for row in parts[0]) if held else 0,
    )


def check_labels(
    rows: Sequence[Labelled], labels: Sequence[str], path: str | os.PathLike[str]
) -> None:
    """Raise if a row has a label that is not among ``labels``."""
    for row in rows:
        if row.label not in labels:
            known = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
            raise DataError(
                f"{name_of(path)}, line {row.number}: the label {row.label!r} does not occur in "
                f"training, which has {known}"
            )


@dataclass(frozen=True)
class LabelledCorpus:
    """Labelled sentences in tokens, ready to train on."""

    tokens: Tokenizer
    train: list[list[int]]
    train_labels: list[int]
    valid: list[list[int]]
    valid_labels: list[int]
    text: LabelledText
    long: list[int]
    """Lines left out of training because they have more than ``max_length`` tokens."""


def make_corpus(text: LabelledText, tokens: Tokenizer, config: LabelledConfig) -> LabelledCorpus:
    """The sentences to train on and to validate on; what is too long is counted."""
    if not text.valid:
        raise DataError("nothing to validate on: give a validation file or data.valid_share > 0")
    place = {label: i for i, label in enumerate(text.labels)}
    train = encode([row.text for row in text.train], tokens)
    lines = [TextLine(row.text, row.number) for row in text.train]
    kept, long = without_long(train, lines, config.max_length)
    labels = [
        place[row.label]
        for row, ids in zip(text.train, train, strict=True)
        if len(ids) <= config.max_length
    ]
    return LabelledCorpus(
        tokens,
        kept,
        labels,
        encode([row.text for row in text.valid], tokens),
        [place[row.label] for row in text.valid],
        text,
        long,
    )


def write_labelled(path: str | os.PathLike[str], rows: Sequence[Labelled]) -> None:
    """Write label TAB sentence lines, atomically."""
    write_text(path, "".join(f"{row.label}\t{row.text}\n" for row in rows))


def summary(corpus: LabelledCorpus, config: LabelledConfig) -> dict[str, Any]:
    """The figures for the log."""
    text = corpus.text
    return {
        "train": len(corpus.train),
        "valid": len(corpus.valid),
        "test": len(text.test),
        "labels": {
            text.labels[i]: count for i, count in sorted(Counter(corpus.train_labels).items())
        },
        "empty": len(text.empty),
        "empty_lines": text.empty[:MENTIONED],
        "long": len(corpus.long),
        "long_lines": corpus.long[:MENTIONED],
        "max_length": config.max_length,
        "overlap": text.overlap,
        "vocabulary": len(corpus.tokens),
    }


def print_summary(
    corpus: LabelledCorpus, config: LabelledConfig, note: Callable[[str], None]
) -> None:
    """Tell the user what is trained on and what is not."""
    text, counts = corpus.text, Counter(corpus.train_labels)
    note(
        f"{len(corpus.train):,} sentences to train on, {len(corpus.valid):,} to validate, "
        f"{len(text.test):,} to test; vocabulary {len(corpus.tokens):,} ({config.level})"
    )
    shown = [f"{visible(text.labels[i])} ({n:,})" for i, n in counts.most_common()]
    note(f"labels: {', '.join(shown)}")
    if text.empty:
        note(f"left out: {numbered(text.empty)} without a sentence")
    if corpus.long:
        note(f"left out: {numbered(corpus.long)} of more than {config.max_length} tokens")
    if text.overlap:
        note(f"{text.overlap:,} training sentences are also in the validation or test files")
