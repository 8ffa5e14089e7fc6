"""Tokens: a text as a model reads it, and which words its tokens are parts of."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from regard.attention.map import Word
from regard.errors import DataError, RegardError
from regard.pieces.split import spans
from regard.text import find_token

Span = tuple[int, int]


@dataclass(frozen=True)
class TextPieces:
    """One text, cut by a model's tokenizer; nothing of it is left out."""

    ids: list[int]
    texts: list[str]
    """What is shown of each token."""
    special: list[bool]
    """Tokens that stand for no text, such as [CLS]."""
    separators: list[bool]
    """Special tokens but the first of all, marks of punctuation, and line breaks."""
    words: list[Word]
    grouped: bool = True
    """Whether the tokenizer said where its tokens stand; if not, each token counts as a word."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def sinks(self) -> list[bool]:
        """What ``--no-sink`` leaves out: the first token and the special ones."""
        return [i == 0 or special for i, special in enumerate(self.special)]

    def word(self, text: str) -> tuple[Word, int]:
        """The word (or else the token) that ``text`` names, and how often it occurs."""
        names = [word.text for word in self.words]
        try:
            place, times = find_token(names, text)
            return self.words[place], times
        except RegardError:
            if text.rpartition("#")[0] in names:
                raise
        try:
            place, times = find_token(self.texts, text)
        except RegardError:
            find_token([*dict.fromkeys([*names, *self.texts])], text)  # says what is near
            raise
        return Word(self.texts[place], place, place + 1), times

    def after(self, start: int, text: str) -> TextPieces:
        """With a token in front: what a decoder reads begins with its start token."""
        moved = [Word(w.text, w.start + 1, w.stop + 1) for w in self.words]
        return replace(
            self,
            ids=[start, *self.ids],
            texts=[text, *self.texts],
            special=[True, *self.special],
            separators=[False, *self.separators],
            words=[Word(text, 0, 1), *moved],
        )

    def beginning(self, n: int) -> TextPieces:
        """The first ``n`` tokens."""
        words = [Word(w.text, w.start, min(n, w.stop)) for w in self.words if w.start < n]
        return replace(
            self,
            ids=self.ids[:n],
            texts=self.texts[:n],
            special=self.special[:n],
            separators=self.separators[:n],
            words=words,
        )

    def without_last(self) -> TextPieces:
        """Without the last token, which a decoder never reads."""
        return self.beginning(len(self) - 1)


def tokens_of(tokenizer: Any, text: str) -> TextPieces:
    """``text`` cut by a ``tokenizers.Tokenizer``, which must neither cut off nor pad."""
    _check(text)
    encoded = tokenizer.encode(text)
    unknown = getattr(tokenizer.model, "unk_token", None)  # it stands for text, if not for which
    known = tokenizer.get_added_tokens_decoder().items()
    marked = {i for i, token in known if token.special and token.content != unknown}
    added = encoded.special_tokens_mask
    special = [bool(own) or i in marked for i, own in zip(encoded.ids, added, strict=True)]
    places = [(0, 0) if own else place for place, own in zip(encoded.offsets, added, strict=True)]
    pieces = type(tokenizer.model).__name__ == "WordPiece"  # ##ing says more than ing does
    parts = [text[a:b] for a, b in places]
    shown = [
        token if pieces or own or not part else shown_text(part)
        for token, part, own in zip(encoded.tokens, parts, special, strict=True)
    ]
    separators = [
        i > 0 and (own or is_mark(part))
        for i, (part, own) in enumerate(zip(parts, special, strict=True))
    ]
    return TextPieces(list(encoded.ids), shown, special, separators, group(text, shown, places))


def plain_tokens(tokenizer: Any, text: str) -> TextPieces:
    """``text`` cut by a transformers tokenizer that does not say where its tokens stand."""
    _check(text)
    ids = list(tokenizer(text)["input_ids"])
    special = [i in tokenizer.all_special_ids for i in ids]
    shown = [str(token).strip("▁ ") or str(token) for token in tokenizer.convert_ids_to_tokens(ids)]
    separators = [
        i > 0 and (own or is_mark(part))
        for i, (part, own) in enumerate(zip(shown, special, strict=True))
    ]
    words = [Word(name, i, i + 1) for i, name in enumerate(shown)]
    return TextPieces(ids, shown, special, separators, words, grouped=False)


def shown_text(part: str) -> str:
    """A token without the blank in front of it; one of white space alone says which."""
    return part.strip() or "".join("␣" if sign == " " else repr(sign)[1:-1] for sign in part)


def group(text: str, shown: Sequence[str], places: Sequence[Span]) -> list[Word]:
    """Neighbouring tokens whose first letters belong to one word of the text are that word.

    ``places`` are the characters of each token; a token without any (special ones, white space)
    stands alone. Words are those of regard.pieces.split.
    """
    found = spans(text)
    starts = [start for start, _ in found]
    owner: list[int | None] = []
    for a, b in places:
        first = a + len(text[a:b]) - len(text[a:b].lstrip())
        owner.append(bisect_right(starts, first) - 1 if first < b else None)
    edges = [0] if owner else []
    edges += [i for i in range(1, len(owner)) if owner[i] is None or owner[i] != owner[i - 1]]
    words = []
    for start, stop in pairwise([*edges, len(owner)]):
        name = text[places[start][0] : places[stop - 1][1]].strip()
        words.append(Word(name or shown[start], start, stop))
    return words


def _check(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, or a byte that is no UTF-8
        raise DataError(f"a text must be valid Unicode: {error}") from error
    if not text.strip():
        raise DataError("the text is empty or all white space; give at least one word")


def is_mark(part: str) -> bool:
    """Whether a token is all punctuation, or white space with a line break in it."""
    bare = part.strip()
    if not bare:
        return "\n" in part
    return all(unicodedata.category(sign).startswith("P") for sign in bare)
