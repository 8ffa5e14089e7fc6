"""BertText: a text as a BERT model reads it, by the tokenizer.json in the model's folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.errors import DataError, ModelError


@dataclass(frozen=True)
class BertReading:
    """A text cut into tokens."""

    text: str
    tokens: list[str]
    """As the vocabulary writes them; ``##`` marks a piece that continues a word."""
    ids: Tensor
    """(n,) int64"""
    spans: list[tuple[int, int]]
    """Where each token stands in the text."""
    special: list[bool]
    """Whether a token is not of the text, such as ``[CLS]`` and ``[SEP]``."""

    def pieces(self, word: str) -> list[int]:
        """The tokens that ``word`` was cut into, where it stands first in the text, if it does."""
        start = self.text.lower().find(word.lower())
        end = start + len(word)
        if start < 0 or not word:
            return []
        return [i for i, (a, z) in enumerate(self.spans) if a < end and z > start]


class BertText:
    """A model's tokenizer, over a Hugging Face ``tokenizers`` object."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> BertText:
        """The tokenizer.json of ``folder``. What it says of cutting and filling texts is dropped:
        a text is read whole and alone."""
        from tokenizers import Tokenizer

        path = Path(folder) / "tokenizer.json"
        if not path.is_file():
            raise ModelError(f"{str(folder)!r} has no tokenizer.json")
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing more precise
            raise ModelError(f"{str(path)!r} is not a tokenizer: {error}") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(tokenizer)

    def read(self, text: str) -> BertReading:
        """``text`` with the marks that the model was trained with around it."""
        try:
            found = self.tokenizer.encode(text)
        except (TypeError, UnicodeEncodeError) as error:  # half of a surrogate pair
            raise DataError(f"a text must be valid Unicode: {error}") from error
        special = [bool(mark) for mark in found.special_tokens_mask]
        if all(special):
            raise DataError(f"there is no word in the text {text[:40]!r}")
        return BertReading(text, found.tokens, torch.tensor(found.ids), found.offsets, special)
