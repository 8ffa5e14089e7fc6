"""Corpus: pairs of a config read, split, cut into tokens, and everything left out counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from regard.errors import DataError
from regard.pieces.tokenizer import Tokenizer
from regard.train.config import PairsConfig
from regard.train.data.batches import TrainingExample
from regard.train.data.names import renamed
from regard.train.data.pairs import Pair, Pairs, read_aligned, read_pairs
from regard.train.data.split import Split, shared, split

USUAL_VOCABULARY = 4000
MENTIONED = 20
"""How many line numbers the log keeps of each kind."""


@dataclass(frozen=True)
class PairText:
    """What was read, before any token."""

    parts: Split
    empty: list[int]
    """Lines of the training text with nothing on a side."""
    digest: str
    """A fingerprint of all pairs."""
    overlap: int
    """Training pairs that share a sentence with a validation or test file of the user's."""


@dataclass(frozen=True)
class PairCorpus:
    """A text in tokens, ready to train on."""

    tokens: Tokenizer
    train: list[TrainingExample]
    valid: list[TrainingExample]
    text: PairText
    long: list[int]
    """Lines left out of training because a side has more than ``max_length`` tokens."""


def read_text(config: PairsConfig) -> PairText:
    """Read all files of the config and put the pairs in their parts."""
    table = config.source_column, config.target_column

    def read(pairs: str | None, source: str | None, target: str | None) -> Pairs | None:
        if pairs:
            return read_pairs(pairs, *table)
        return read_aligned(source, target) if source and target else None

    main = read(config.pairs, config.source, config.target)
    valid = read(config.valid_pairs, config.valid_source, config.valid_target)
    test = read(config.test_pairs, config.test_source, config.test_target)
    assert main is not None, "PairsConfig checks this"
    if not main.pairs:
        raise DataError(f"none of the {main.lines} lines has something on both sides")
    parts = split(
        main.pairs,
        0.0 if valid else config.valid_share,
        0.0 if valid or test else config.test_share,
        config.split_seed,
    )
    digests = [part.digest() for part in (main, valid, test) if part]
    given = [pair for part in (valid, test) if part for pair in part.pairs]
    return PairText(
        Split(
            parts.train,
            valid.pairs if valid else parts.valid,
            test.pairs if test else parts.test,
        ),
        main.empty,
        " ".join(digest[:16] for digest in digests),
        shared(parts.train, given) if given else 0,
    )


def learn_tokens(text: PairText, config: PairsConfig) -> Tokenizer:
    """A vocabulary from the training part alone."""
    sides = (side for pair in text.parts.train for side in (pair.source, pair.target))
    size = config.vocabulary or USUAL_VOCABULARY
    tokens = Tokenizer.train(sides, size, config.level, least=config.least)
    return tokens.require(config.vocabulary)


def make_corpus(text: PairText, tokens: Tokenizer, config: PairsConfig) -> PairCorpus:
    """The examples to train on and to validate on; what is too long is counted."""
    if not text.parts.valid:
        raise DataError("nothing to validate on: give a validation file or data.valid_share > 0")
    train = in_tokens(renamed(text.parts.train, config.names, config.split_seed), tokens)
    fits = [max(len(e.source), len(e.target)) <= config.max_length for e in train]
    long = [p.line for p, fit in zip(text.parts.train, fits, strict=True) if not fit]
    kept = [e for e, fit in zip(train, fits, strict=True) if fit]
    if not kept:
        raise DataError(
            f"all {len(train)} training pairs are longer than {config.max_length} tokens: "
            "raise data.max_length"
        )
    return PairCorpus(tokens, kept, in_tokens(text.parts.valid, tokens), text, long)


def in_tokens(pairs: Sequence[Pair], tokens: Tokenizer) -> list[TrainingExample]:
    """The token ids of each pair."""
    sources = tokens.encode_all([pair.source for pair in pairs])
    targets = tokens.encode_all([pair.target for pair in pairs])
    return [TrainingExample(s, t) for s, t in zip(sources, targets, strict=True)]


def summary(corpus: PairCorpus, config: PairsConfig) -> dict[str, Any]:
    """The figures for the log."""
    text = corpus.text
    return {
        "train": len(corpus.train),
        "valid": len(corpus.valid),
        "test": len(text.parts.test),
        "empty": len(text.empty),
        "empty_lines": text.empty[:MENTIONED],
        "long": len(corpus.long),
        "long_lines": corpus.long[:MENTIONED],
        "max_length": config.max_length,
        "overlap": text.overlap,
        "vocabulary": len(corpus.tokens),
        "target_tokens": sum(len(e.target) + 1 for e in corpus.train),
    }


def print_summary(corpus: PairCorpus, config: PairsConfig, note: Callable[[str], None]) -> None:
    """Tell the user what is trained on and what is not."""
    text = corpus.text
    note(
        f"{len(corpus.train):,} pairs to train on, {len(corpus.valid):,} to validate, "
        f"{len(text.parts.test):,} to test; vocabulary {len(corpus.tokens):,} ({config.level})"
    )
    if config.vocabulary == 0 and len(corpus.tokens) < USUAL_VOCABULARY:
        note(f"the text allows no more than these {len(corpus.tokens):,} tokens")
    if text.empty:
        note(f"left out: {numbered(text.empty)} with nothing on a side")
    if corpus.long:
        note(f"left out: {numbered(corpus.long)} of more than {config.max_length} tokens on a side")
    if text.overlap:
        note(f"{text.overlap:,} training pairs share a sentence with the validation or test files")


def numbered(numbers: list[int]) -> str:
    """``3 lines (4, 7, 9)``, of many the first."""
    shown = ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")
    return f"{len(numbers):,} {'line' if len(numbers) == 1 else 'lines'} ({shown})"
