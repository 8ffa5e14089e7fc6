"""Corpus: a dataset in tokens, and everything left out counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from regard.errors import DataError
from regard.files import name_of
from regard.pieces.sentencepiece import read_pieces, tokenizer_of
from regard.pieces.tokenizer import SPECIAL, UNK, Tokenizer
from regard.text import number_of
from regard.train.data.config import PartsConfig
from regard.train.data.examples import Dataset, E

MENTIONED = 20
"""How many line numbers the log keeps of each kind."""
Ids = tuple[list[int], ...]
"""The token ids of each text of an example, no special tokens."""


@dataclass(frozen=True)
class TokenCorpus(Generic[E]):
    """A dataset in tokens, ready to train on."""

    tokens: Tokenizer
    data: Dataset[E]
    examples: list[E]
    """Those that are trained on: all of the training part but the long ones."""
    train: list[Ids]
    """Their tokens."""
    valid: list[Ids]
    long: list[int]
    """Lines left out of training because a text has more than ``max_length`` tokens."""

    @property
    def unknown(self) -> float:
        """The share of the validation part's tokens that are <unk>."""
        ids = [i for texts in self.valid for text in texts for i in text]
        return ids.count(UNK) / max(1, len(ids))


def learn_tokens(data: Dataset[E], config: PartsConfig) -> Tokenizer:
    """A vocabulary from the training part alone, or the user's own."""
    if config.tokenizer:
        return read_tokenizer(config.tokenizer)
    texts = (text for row in data.train for text in row.texts())
    tokens = Tokenizer.train(texts, config.usual_vocabulary, config.level, least=config.least)
    return tokens.require(config.vocabulary)


def read_tokenizer(path: str) -> Tokenizer:
    """The tokenizer of a file: SentencePiece's, or JSON of Hugging Face's tokenizers."""
    if path.endswith((".model", ".spm")):
        return tokenizer_of(read_pieces(path))
    return Tokenizer.load(path)


def in_tokens(
    data: Dataset[E], tokens: Tokenizer, most: int | None, what: str = "sentences"
) -> TokenCorpus[E]:
    """The examples to train on, of at most ``most`` tokens a text, and those to validate on."""
    if not data.valid:
        raise DataError("nothing to validate on: give a validation file or data.valid_share > 0")
    train = ids_of(data.train, tokens)
    fits = [most is None or max(map(len, texts)) <= most for texts in train]
    if not any(fits):
        raise DataError(
            f"all {len(train)} training {what} are longer than {most} tokens: raise data.max_length"
        )
    return TokenCorpus(
        tokens,
        data,
        [row for row, fit in zip(data.train, fits, strict=True) if fit],
        [texts for texts, fit in zip(train, fits, strict=True) if fit],
        ids_of(data.valid, tokens),
        [row.number for row, fit in zip(data.train, fits, strict=True) if not fit],
    )


def ids_of(rows: Sequence[E], tokens: Tokenizer) -> list[Ids]:
    """The token ids of each text of each example."""
    sides = zip(*(row.texts() for row in rows), strict=True)
    return list(zip(*(encode(side, tokens) for side in sides), strict=True))


def encode(texts: Sequence[str], tokens: Tokenizer) -> list[list[int]]:
    """The ids of each text; a special token that is written in a text is unknown there."""
    return [
        [i if i >= len(SPECIAL) else UNK for i in ids] for ids in tokens.encode_all(list(texts))
    ]


def summary(corpus: TokenCorpus[E], config: PartsConfig) -> dict[str, Any]:
    """The figures for the log."""
    data = corpus.data
    return {
        "train": len(corpus.train),
        "valid": len(corpus.valid),
        "test": len(data.test),
        "empty": len(data.empty),
        "empty_lines": data.empty[:MENTIONED],
        "repeated": data.repeated,
        "long": len(corpus.long),
        "long_lines": corpus.long[:MENTIONED],
        "max_length": config.max_length,
        "overlap": data.overlap,
        "vocabulary": len(corpus.tokens),
        "target_tokens": target_tokens(corpus),
        "valid_unknown": round(corpus.unknown, 6),
    }


def target_tokens(corpus: TokenCorpus[E]) -> int:
    """Tokens of the training part, or of its target side, with the ends of sentences."""
    return sum(len(texts[-1]) + 1 for texts in corpus.train)


def notes(
    corpus: TokenCorpus[E],
    config: PartsConfig,
    *,
    what: str,
    blank: str,
    aside: str,
    overlap: tuple[str, str],
) -> Iterator[str]:
    """What is trained on and what is not, a line each.

    Examples are ``what``; empty lines are ``blank``; long ones long ``aside``; and those that a
    file of the user's has too ``overlap`` with it (said of one, said of several).
    """
    data, size, noun = corpus.data, len(corpus.tokens), what.removesuffix("s")
    yield (
        f"{number_of(len(corpus.train), noun)} to train on, {len(corpus.valid):,} to validate, "
        f"{len(data.test):,} to test; vocabulary {size:,} "
        f"({name_of(config.tokenizer) if config.tokenizer else corpus.tokens.kind})"
    )
    if not config.tokenizer and config.vocabulary == 0 and size < config.usual_vocabulary:
        yield f"the text allows no more than these {size:,} tokens"
    if corpus.unknown:
        yield f"{corpus.unknown:.2%} of the validation tokens are <unk>"
    if data.empty:
        yield f"left out: {numbered(data.empty)} {blank}"
    if data.repeated:
        verb = "that repeats" if data.repeated == 1 else "that repeat"
        yield f"left out: {number_of(data.repeated, 'line')} {verb} an earlier one"
    if corpus.long:
        yield f"left out: {numbered(corpus.long)} of more than {config.max_length} tokens{aside}"
    if data.overlap:
        verb = overlap[data.overlap != 1]
        yield f"{number_of(data.overlap, f'training {noun}')} {verb} the validation or test files"


def numbered(numbers: list[int]) -> str:
    """``3 lines (4, 7, 9)``, of many the first."""
    shown = ", ".join(map(str, numbers[:5])) + (", …" if len(numbers) > 5 else "")
    return f"{number_of(len(numbers), 'line')} ({shown})"
