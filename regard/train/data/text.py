"""Text: the lines of a language model's text, read, divided, cut into tokens; all of it counted."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from regard.errors import DataError
from regard.files import write_text
from regard.pieces.tokenizer import SPECIAL, UNK, Tokenizer
from regard.train.data.config import PartsConfig, TextConfig
from regard.train.data.corpus import MENTIONED, numbered
from regard.train.data.lines import name_of, read_lines
from regard.train.data.split import normalised, places


class TextLine(NamedTuple):
    """A sentence, and the line it came from (from 1)."""

    text: str
    number: int = 0


@dataclass(frozen=True)
class TextLines:
    """All sentences of one file."""

    lines: list[TextLine]
    empty: list[int]
    """Lines with nothing but white space."""
    repeated: int = 0
    """Lines left out because their sentence had occurred before."""

    def digest(self) -> str:
        """A fingerprint of the sentences in their order."""
        return hashlib.sha256("\n".join(line.text for line in self.lines).encode()).hexdigest()


def read_sentences(
    path: str | os.PathLike[str], column: int = 0, *, unique: bool = False
) -> TextLines:
    """The sentences of a text file, or of one column of a table, in their order."""
    lines: list[TextLine] = []
    empty: list[int] = []
    seen: set[str] = set()
    repeated = 0
    for number, row in enumerate(read_lines(path), 1):
        sentence = " ".join((_cell(row, column, number, path) if column else row).split())
        if not sentence:
            empty.append(number)
        elif unique and sentence in seen:
            repeated += 1
        else:
            lines.append(TextLine(sentence, number))
            seen.add(sentence)
    if not lines:
        raise DataError(f"none of the {len(empty)} lines of {name_of(path)} has text")
    return TextLines(lines, empty, repeated)


def _cell(row: str, column: int, number: int, path: str | os.PathLike[str]) -> str:
    cells = row.split("\t")
    if len(cells) < column and row:
        raise DataError(
            f"{name_of(path)}, line {number}: column {column} is wanted, with a tab between "
            f"columns; got {len(cells)} of them"
        )
    return cells[column - 1] if row else ""


@dataclass(frozen=True)
class LanguageText:
    """What was read, before any token."""

    train: list[TextLine]
    valid: list[TextLine]
    test: list[TextLine]
    empty: list[int]
    """Lines of the training text without text."""
    repeated: int
    """Lines left out of it because they repeat an earlier one."""
    digest: str
    """A fingerprint of everything."""
    overlap: int
    """Training sentences that are also in a validation or test file of the user's."""


def read_text(config: TextConfig) -> LanguageText:
    """Read all files of the config and divide the sentences."""
    assert config.text is not None, "TextConfig checks this"
    main = read_sentences(config.text, config.column, unique=config.unique)
    given = [
        read_sentences(path, config.column) if path else None
        for path in (config.valid, config.test)
    ]
    shares = 0.0 if given[0] else config.valid_share, 0.0 if any(given) else config.test_share
    divide = _in_order if config.continuous else _by_sentence
    train, valid, test = divide(main.lines, *shares, config.split_seed)
    valid, test = (
        part.lines if part else own for part, own in zip(given, (valid, test), strict=True)
    )
    held = {normalised(line.text) for part in given if part for line in part.lines}
    return LanguageText(
        train,
        valid,
        test,
        main.empty,
        main.repeated,
        " ".join(part.digest()[:16] for part in (main, *given) if part),
        sum(normalised(line.text) in held for line in train) if held else 0,
    )


Divided = tuple[list[TextLine], list[TextLine], list[TextLine]]


def _by_sentence(lines: list[TextLine], valid: float, test: float, seed: int) -> Divided:
    """About these shares set aside; all lines with the same sentence go to the same part."""
    found = places([normalised(line.text) for line in lines], valid, test, seed)
    train, held, last = (
        [line for line, place in zip(lines, found, strict=True) if place == part]
        for part in ("train", "valid", "test")
    )
    return train, held, last


def _in_order(lines: list[TextLine], valid: float, test: float, seed: int) -> Divided:
    """A stream must not be torn: its end is set aside, the last lines to test on."""
    counts = [max(1, round(share * len(lines))) if share else 0 for share in (valid, test)]
    first, second = len(lines) - sum(counts), len(lines) - counts[1]
    if first < 1:
        raise DataError(f"{len(lines)} lines are too few to set {sum(counts)} of them aside")
    return lines[:first], lines[first:second], lines[second:]


@dataclass(frozen=True)
class TextCorpus:
    """A text in tokens, ready to train on."""

    tokens: Tokenizer
    train: list[list[int]]
    valid: list[list[int]]
    text: LanguageText
    long: list[int]
    """Lines left out of training because they have more than ``max_length`` tokens."""

    @property
    def unknown(self) -> float:
        """The share of the validation part's tokens that are <unk>."""
        ids = [i for line in self.valid for i in line]
        return ids.count(UNK) / max(1, len(ids))


def learn_tokens(texts: Sequence[str], config: PartsConfig) -> Tokenizer:
    """A vocabulary from the training part alone."""
    tokens = Tokenizer.train(texts, config.usual_vocabulary, config.level, least=config.least)
    return tokens.require(config.vocabulary)


def make_corpus(text: LanguageText, tokens: Tokenizer, config: TextConfig) -> TextCorpus:
    """The sentences to train on and to validate on; what is too long is counted."""
    if not text.valid:
        raise DataError("nothing to validate on: give a validation file or data.valid_share > 0")
    train = encode([line.text for line in text.train], tokens)
    valid = encode([line.text for line in text.valid], tokens)
    if config.continuous:
        return TextCorpus(tokens, train, valid, text, [])
    kept, long = without_long(train, text.train, config.max_length)
    return TextCorpus(tokens, kept, valid, text, long)


def without_long(
    sentences: list[list[int]], lines: Sequence[TextLine], most: int
) -> tuple[list[list[int]], list[int]]:
    """The sentences of at most ``most`` tokens, and the line numbers of the others."""
    long = [line.number for ids, line in zip(sentences, lines, strict=True) if len(ids) > most]
    kept = [ids for ids in sentences if len(ids) <= most]
    if not kept:
        raise DataError(
            f"all {len(sentences)} training sentences are longer than {most} tokens: "
            "raise data.max_length"
        )
    return kept, long


def encode(texts: Sequence[str], tokens: Tokenizer) -> list[list[int]]:
    """The ids of each text; a special token that is written in a text is unknown there."""
    return [
        [i if i >= len(SPECIAL) else UNK for i in ids] for ids in tokens.encode_all(list(texts))
    ]


def write_lines(path: str | os.PathLike[str], lines: Sequence[TextLine]) -> None:
    """Write a sentence a line, atomically."""
    write_text(path, "".join(f"{line.text}\n" for line in lines))


def summary(corpus: TextCorpus, config: TextConfig) -> dict[str, Any]:
    """The figures for the log."""
    text = corpus.text
    return {
        "train": len(corpus.train),
        "valid": len(corpus.valid),
        "test": len(text.test),
        "empty": len(text.empty),
        "empty_lines": text.empty[:MENTIONED],
        "repeated": text.repeated,
        "long": len(corpus.long),
        "long_lines": corpus.long[:MENTIONED],
        "max_length": config.max_length,
        "overlap": text.overlap,
        "vocabulary": len(corpus.tokens),
        "target_tokens": sum(len(ids) + 1 for ids in corpus.train),
        "valid_unknown": round(corpus.unknown, 6),
    }


def print_summary(corpus: TextCorpus, config: TextConfig, note: Callable[[str], None]) -> None:
    """Tell the user what is trained on and what is not."""
    text, tokens = corpus.text, sum(len(ids) + 1 for ids in corpus.train)
    note(
        f"{len(corpus.train):,} sentences ({tokens:,} tokens with their ends) to train on, "
        f"{len(corpus.valid):,} to validate, {len(text.test):,} to test; "
        f"vocabulary {len(corpus.tokens):,} ({config.level})"
    )
    if config.vocabulary == 0 and len(corpus.tokens) < config.usual_vocabulary:
        note(f"the text allows no more than these {len(corpus.tokens):,} tokens")
    if corpus.unknown:
        note(f"{corpus.unknown:.2%} of the validation tokens are <unk>")
    if text.empty:
        note(f"left out: {numbered(text.empty)} without text")
    if text.repeated:
        note(f"left out: {text.repeated:,} lines that repeat an earlier one")
    if corpus.long:
        note(f"left out: {numbered(corpus.long)} of more than {config.max_length} tokens")
    if text.overlap:
        note(f"{text.overlap:,} training sentences are also in the validation or test files")
