"""Text: a text as a model's tokenizer cuts it: its tokens, where each stands, their words.

One reading for every command and every kind of tokenizer: Hugging Face's ``tokenizers``, those of
transformers that are not built on them, and regard's own learned vocabulary.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from regard.errors import DataError, ModelError, first_line
from regard.pieces.grouping import group
from regard.pieces.marks import UNKNOWN, from_labels, is_mark
from regard.pieces.pieces import Pieces, Place
from regard.pieces.tokenizer import SPECIAL, START, UNK, Tokenizer
from regard.text import Word, check_unicode, quoted

FILES = ("tokenizer*", "vocab*", "*.model", "*.bpe")
"""What the files are called from which a tokenizer is made."""


def read_text(tokenizer: Any, text: str) -> Pieces:
    """``text`` as ``tokenizer`` cuts it, with the marks that a model was trained with around it.

    The tokenizer must neither cut off nor pad (:func:`load_tokenizer`).
    """
    check_text(text)
    if isinstance(tokenizer, Tokenizer):
        return learned_pieces(tokenizer, [text])[0]
    if hasattr(tokenizer, "get_added_tokens_decoder"):
        return _encoded(tokenizer, text)
    return _listed(tokenizer, text)


def learned_pieces(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Pieces]:
    """Texts by a vocabulary of regard's own; neither <s> nor </s> is added.

    Labels are those of the vocabulary, ``▁`` where a word begins. A special token that somebody
    wrote is text like any other, and unknown.
    """
    for text in texts:
        check_unicode(text)
    found = []
    many = tokenizer.tokenizer.encode_batch(list(texts), add_special_tokens=False)
    for text, encoded in zip(texts, many, strict=True):
        ids = [i if i >= len(SPECIAL) else UNK for i in encoded.ids]
        labels = list(encoded.tokens)
        for place, (a, b) in enumerate(encoded.offsets):
            if ids[place] == UNK:
                begins = not tokenizer.spaced and (place == 0 or text[a].isspace())
                labels[place] = START * begins + text[a:b].strip()
        made = _pieces(text, labels, encoded.offsets, [False] * len(ids), ids, UNK)
        if tokenizer.spaced:  # a word is what stands between spaces: each piece
            made = replace(made, words=Pieces.plain(labels).words)
        found.append(made)
    return found


def word_numbers(tokenizer: Tokenizer, sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """Of sentences that are in words already, read with one blank between: the number of the word
    that each piece belongs to."""
    texts = [" ".join(words) for words in sentences]
    many = tokenizer.tokenizer.encode_batch(texts, add_special_tokens=False)
    found = []
    for words, text, encoded in zip(sentences, texts, many, strict=True):
        starts = [0, *accumulate(len(word) + 1 for word in words[:-1])]
        ends = [b if text[b - 1].isspace() else b - 1 for _, b in encoded.offsets]  # ▁ alone
        numbers = [bisect_right(starts, end) - 1 for end in ends]
        if len(set(numbers)) != len(words):
            lost = next(i for i in range(len(words)) if i not in numbers)
            raise DataError(f"the tokenizer leaves the word {quoted(words[lost])} out")
        found.append(numbers)
    return found


def spaced_pieces(tokenizer: Tokenizer, words: Sequence[str]) -> Pieces:
    """A sentence that is in words already, one blank between; its words are these."""
    (made,), (numbers,) = (
        learned_pieces(tokenizer, [" ".join(words)]),
        word_numbers(tokenizer, [words]),
    )
    edges = [bisect_left(numbers, i) for i in range(len(words) + 1)]
    runs = zip(words, pairwise(edges), strict=True)
    return replace(made, words=[Word(word, start, stop) for word, (start, stop) in runs])


def written_pieces(tokenizer: Tokenizer, ids: Iterable[int]) -> Pieces:
    """What a model wrote with this vocabulary."""
    return from_labels(tokenizer.pieces(ids))


def check_length(pieces: Pieces, model: str, positions: int | None) -> None:
    """Raise if there are more pieces than ``model`` knows positions."""
    if positions is not None and len(pieces) > positions:
        raise DataError(
            f"the text has {len(pieces):,} tokens, {model} knows {positions:,} positions; nothing "
            "is cut off: give a shorter text, or its parts one by one"
        )


def load_tokenizer(folder: Path, gguf: str | None = None) -> Any:
    """The tokenizer of a model's folder, told neither to cut off nor to pad."""
    path = folder / "tokenizer.json"
    if path.is_file() and gguf is None:
        from tokenizers import Tokenizer as Encoder

        try:
            tokenizer = Encoder.from_file(str(path))
        except Exception as error:  # the library raises no narrower kind
            raise ModelError(f"cannot read {str(path)!r}: {first_line(error)}") from error
    else:
        found = _of_transformers(folder, gguf)
        if not found.is_fast:
            return found
        tokenizer = found.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def check_tokenizer(folder: Path, gguf: str | None = None) -> None:
    """Raise if nothing in a model's folder (or its GGUF file) can be a tokenizer."""
    if gguf is None and not any(any(folder.glob(name)) for name in FILES):
        raise _without_files(folder)


def check_text(text: str) -> None:
    """Raise unless there is something to read in ``text``."""
    check_unicode(text)
    if not text.strip():
        raise DataError("the text is empty or all white space; give at least one word")


def _encoded(tokenizer: Any, text: str) -> Pieces:
    """By a ``tokenizers.Tokenizer``."""
    encoded = tokenizer.encode(text)
    unknown = _unknown_id(tokenizer)
    marked = {i for i, t in tokenizer.get_added_tokens_decoder().items() if t.special}
    special = [
        bool(own) or (i in marked and i != unknown)
        for i, own in zip(encoded.ids, encoded.special_tokens_mask, strict=True)
    ]
    offsets = [
        () if own else place
        for place, own in zip(encoded.offsets, encoded.special_tokens_mask, strict=True)
    ]
    pieces = type(tokenizer.model).__name__ == "WordPiece"  # ##ing says more than ing does
    labels = list(encoded.tokens)
    for place, (i, own) in enumerate(zip(encoded.ids, special, strict=True)):
        if not own and (i == unknown or not pieces):
            labels[place] = shown_text(text[slice(*offsets[place])]) or labels[place]
    return _pieces(text, labels, offsets, special, list(encoded.ids), unknown)


def _listed(tokenizer: Any, text: str) -> Pieces:
    """By a tokenizer of transformers that does not say where its tokens stand."""
    ids = list(tokenizer(text)["input_ids"])
    unknown = tokenizer.unk_token_id
    special = [i in tokenizer.all_special_ids and i != unknown for i in ids]
    labels = [
        str(token).strip("▁ ") or str(token) for token in tokenizer.convert_ids_to_tokens(ids)
    ]
    return _pieces(text, labels, [()] * len(ids), special, ids, unknown)


def _pieces(
    text: str,
    labels: list[str],
    places: Sequence[Place],
    special: list[bool],
    ids: list[int],
    unknown: int | None,
) -> Pieces:
    parts = [text[slice(*p)] if p else label for p, label in zip(places, labels, strict=True)]
    separators = [
        i > 0 and (own or is_mark(part))
        for i, (part, own) in enumerate(zip(parts, special, strict=True))
    ]
    words = group(text, labels, places)
    strange = [i == unknown for i in ids]
    return Pieces(labels, words, special, separators, strange, list(places), ids, text)


def shown_text(part: str) -> str:
    """A token without the blank in front of it; one of white space alone says which."""
    return part.strip() or "".join("␣" if sign == " " else repr(sign)[1:-1] for sign in part)


def _unknown_id(tokenizer: Any) -> int | None:
    """The token that stands for text which the tokenizer has no token for."""
    name = getattr(tokenizer.model, "unk_token", None)  # a Unigram model does not say
    found = (tokenizer.token_to_id(token) for token in ([name] if name else UNKNOWN))
    return next((i for i in found if i is not None), None)


def _of_transformers(folder: Path, gguf: str | None) -> Any:
    """transformers would make an empty tokenizer of a folder that has none, and say nothing."""
    check_tokenizer(folder, gguf)
    import transformers

    given: dict[str, Any] = {} if gguf is None else {"gguf_file": gguf}
    found = transformers.AutoTokenizer.from_pretrained(str(folder), **given)
    wanted = found.vocab_files_names.values()
    if gguf is None and wanted and not any((folder / name).is_file() for name in wanted):
        raise _without_files(folder)
    return found


def _without_files(folder: Path) -> ModelError:
    return ModelError(
        f"{str(folder)!r} has no tokenizer, so no text can be read: a model's folder has "
        "tokenizer.json, or the vocabulary of a tokenizer that transformers knows; copy it there "
        "from where the model comes from"
    )
