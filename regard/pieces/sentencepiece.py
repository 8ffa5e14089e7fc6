"""SentencePiece: its model files (.model, .spm) read without its library.

A model file is a protocol buffer; what is needed of it are three fields of the first level::

    1  a piece, again and again: 1 its text, 2 its score (log p), 3 its kind
    2  how it was trained: 3 the algorithm (1 unigram, 2 BPE, …), 22 whether pieces end where words
       do, 24 whether the mark of a space stands behind words
    3  how text is normalised before: 2 a table of characters, 3 whether a space is put in front

A unigram model cuts a word where the sum of its pieces' scores is the highest (Kudo 2018).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from regard.errors import FileError
from regard.pieces.tokenizer import SPECIAL, START, UNK, Tokenizer

UNIGRAM = 1
ORDINARY = (1, 4)
"""Kinds of pieces that text is made of: normal ones and those that the user defined."""
FAR = 1000.0
"""How much less than the worst piece one scores that is not the file's own."""


class PieceModel(NamedTuple):
    """What a model file holds."""

    scores: dict[str, float]
    """The pieces that text is made of; marks such as <unk> and <s> left out."""
    table: bytes
    """Which characters stand for which; empty for none."""
    prefix: bool = True
    """Whether the first word begins with the mark of a space, as all others."""
    within: bool = True
    """Whether no piece goes on from one word into the next."""


def read_pieces(path: str | os.PathLike[str]) -> PieceModel:
    """Read a SentencePiece model file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    scores: dict[str, float] = {}
    trained: dict[int, Any] = {}
    normalised: dict[int, Any] = {}
    try:
        for field, value in _fields(data):
            if field == 1:
                piece = dict(_fields(value))
                if int(piece.get(3, 1)) in ORDINARY:
                    scores[piece[1].decode()] = float(piece.get(2, 0.0))
            elif field == 2:
                trained = dict(_fields(value))
            elif field == 3:
                normalised = dict(_fields(value))
        kind, suffix = int(trained.get(3, UNIGRAM)), bool(trained.get(24, False))
        table, prefix = bytes(normalised.get(2, b"")), bool(normalised.get(3, True))
    except (IndexError, KeyError, struct.error, UnicodeDecodeError, TypeError, ValueError) as error:
        raise FileError(f"{str(path)!r} is not a SentencePiece model") from error
    if not scores:
        raise FileError(f"{str(path)!r} is not a SentencePiece model: it has no pieces")
    if kind != UNIGRAM:
        raise FileError(
            f"{str(path)!r} is a SentencePiece model of kind {kind}; unigram models (kind 1, what "
            "spm_train makes unless told otherwise) are read"
        )
    if suffix:
        raise FileError(
            f"{str(path)!r} is a SentencePiece model with the mark of a space behind words "
            "(treat_whitespace_as_suffix); models with it in front are read"
        )
    return PieceModel(scores, table, prefix, bool(trained.get(22, True)))


def tokenizer_of(model: PieceModel, vocabulary: Sequence[str] = ()) -> Tokenizer:
    """A tokenizer that cuts as the model does.

    ``vocabulary``: the tokens behind the special ones, in the order of their ids; the model's
    own pieces if not given. A token that is no piece of the model's is cut only where nothing
    else fits.
    """
    from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
    from tokenizers import Tokenizer as Encoder

    named = vocabulary or [piece for piece in model.scores if piece not in SPECIAL]
    least = min(model.scores.values()) - FAR
    tokens = [(mark, 0.0) for mark in SPECIAL]
    tokens += [(piece, model.scores.get(piece, least)) for piece in named]
    encoder = Encoder(models.Unigram(tokens, unk_id=UNK, byte_fallback=False))
    steps: list[Any] = [normalizers.Precompiled(model.table)] if model.table else []
    steps += [normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    encoder.normalizer = normalizers.Sequence(steps)
    scheme: Any = "always" if model.prefix else "never"
    encoder.pre_tokenizer = pre_tokenizers.Metaspace(START, scheme, split=model.within)
    encoder.decoder = decoders.Metaspace(START, scheme)
    encoder.add_special_tokens(list(SPECIAL))
    return Tokenizer(encoder)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protocol buffer: numbers as such, all else as bytes."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        field, wire = key >> 3, key & 7
        if wire == 0:
            value, place = _varint(data, place)
            yield field, value
        elif wire == 5:
            yield field, struct.unpack("<f", data[place : place + 4])[0]
            place += 4
        elif wire == 1:
            place += 8
        elif wire == 2:
            length, place = _varint(data, place)
            if place + length > len(data):
                raise ValueError("cut")
            yield field, data[place : place + length]
            place += length
        else:
            raise ValueError(f"wire type {wire}")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of 7 bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
