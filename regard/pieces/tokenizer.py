"""Tokens: text to token ids and back, with a vocabulary learned from the text itself.

One joint vocabulary serves both languages of a translator. Three levels:

* ``bpe``: words are split into pieces that occur often (byte-pair encoding, Sennrich, Haddow &
  Birch 2016): the pair of neighbouring pieces that is most frequent becomes a piece, again and
  again until the vocabulary is full. A rare word is several pieces, hardly any is unknown.
* ``word``: the most frequent words, whole; every other word is ``<unk>``.
* ``space``: the same for text that is in tokens already: a word is what stands between spaces.

``▁`` marks where a word starts, so that ``decode(encode(text)) == text`` up to runs of white
space and characters never seen in training. Punctuation is a token of its own. At level ``space``
there are no marks, and punctuation is apart only where the text has it apart.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from regard.errors import DataError, FileError
from regard.files import write_text
from regard.text import check_unicode

PAD, UNK, BOS, EOS = 0, 1, 2, 3
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
"""Filler, unknown, beginning and end of a sentence: ids 0 to 3."""

START = "▁"
"""Marks a piece that begins a word."""

_SPECIALS = re.compile("|".join(map(re.escape, SPECIAL)))

_LONG = re.compile(r"\S{1000}")
"""So much of a word is learned from at once: the time that a word takes is quadratic."""

Level = Literal["bpe", "word", "space"]


class Tokenizer:
    """A vocabulary and the rules to cut text by it, over a Hugging Face ``tokenizers`` object."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @classmethod
    def train(
        cls, texts: Iterable[str], size: int, level: Level = "bpe", *, least: int = 2
    ) -> Tokenizer:
        """Learn at most ``size`` tokens, the four special ones included, from ``texts``.

        ``least``: how often a piece or word must occur to be one. A text that does not hold
        ``size`` tokens gives fewer: look at ``len``, or ask :meth:`require`.
        """
        from tokenizers import trainers

        if size <= len(SPECIAL):
            raise DataError(
                f"a vocabulary has more than its {len(SPECIAL)} special tokens; got size {size}"
            )
        tokenizer = _untrained(level)
        kind = trainers.BpeTrainer if level == "bpe" else trainers.WordLevelTrainer
        trainer = kind(
            vocab_size=size,
            min_frequency=least,
            special_tokens=list(SPECIAL),
            show_progress=False,
        )
        plain = (_LONG.sub(r"\g<0> ", _SPECIALS.sub(" ", text)) for text in texts)
        tokenizer.train_from_iterator(plain, trainer)
        if tokenizer.get_vocab_size() == len(SPECIAL):
            raise DataError(
                f"there is no text to learn a vocabulary from: no word occurs {least} times"
            )
        return cls(tokenizer)

    def require(self, size: int) -> Tokenizer:
        """These tokens, or an error if they are not the ``size`` that was asked for (0 = any)."""
        if 0 < size < len(self):
            raise DataError(
                f"a vocabulary of {size} is smaller than the text needs: its characters and the "
                f"special tokens are {len(self)}; ask for {len(self)} or more, or for words"
            )
        if len(self) < size:
            raise DataError(
                f"a vocabulary of {size} is larger than the text allows: "
                f"it gives {len(self)} tokens; ask for {len(self)} or fewer, or give more text"
            )
        return self

    @property
    def spaced(self) -> bool:
        """Whether a token is what stands between spaces (level ``space``)."""
        return self.tokenizer.decoder is None

    @property
    def kind(self) -> str:
        """The level that they were learned at, or of other makers' the name of their model."""
        name = type(self.tokenizer.model).__name__.lower()
        return ("space" if self.spaced else "word") if name == "wordlevel" else name

    @property
    def spells(self) -> bool:
        """Whether a word that is no token is spelled (levels ``bpe`` and SentencePiece's): what is
        unknown then are letters."""
        return type(self.tokenizer.model).__name__ in ("BPE", "Unigram")

    @property
    def learned_here(self) -> bool:
        """Whether they cut text as those do that :meth:`train` learns, not by another's rules."""
        level: Level | None = next((each for each in get_args(Level) if each == self.kind), None)
        if level is None:
            return False
        own, known = (json.loads(each.to_str()) for each in (self.tokenizer, _untrained(level)))
        written = [token["content"] for token in own["added_tokens"]]
        rules = [
            {part: each[part] for part in ("normalizer", "pre_tokenizer", "decoder")}
            | {k: v for k, v in each["model"].items() if k not in ("vocab", "merges")}
            for each in (own, known)
        ]
        return rules[0] == rules[1] and written == list(SPECIAL)

    def encode(self, text: str) -> list[int]:
        """The ids of ``text``; neither <s> nor </s> is added.

        A special token that is written in the text is one: ``<unk>``, as some corpora have it.
        """
        check_unicode(text)
        ids: list[int] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts, on all cores."""
        many = self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [one.ids for one in many]

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ``ids``, the special tokens left out."""
        text: str = self.tokenizer.decode([int(i) for i in ids], skip_special_tokens=True)
        return text

    def join(self, pieces: Sequence[str]) -> str:
        """The text of pieces as they stand in the vocabulary, of words that are not in it too."""
        decoder = self.tokenizer.decoder
        text: str = " ".join(pieces) if decoder is None else decoder.decode(list(pieces))
        return text

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each id's own text as it stands in the vocabulary: ``▁übers``, ``etzen``, ``?``."""
        found = [self.tokenizer.id_to_token(int(i)) for i in ids]
        return [SPECIAL[UNK] if piece is None else piece for piece in found]

    def __len__(self) -> int:
        size: int = self.tokenizer.get_vocab_size()
        return size

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything as one JSON file (the format of Hugging Face ``tokenizers``)."""
        write_text(path, self.to_text())

    def to_text(self) -> str:
        """The content of that file."""
        text: str = self.tokenizer.to_str(pretty=True)
        return text

    @classmethod
    def from_text(cls, text: str) -> Tokenizer:
        """The tokens that :meth:`to_text` wrote.

        Whatever else a file may ask for, no text is cut or filled up, and nothing is added to it.
        """
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(text)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.post_processor = None
        return cls(tokenizer)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Read a file that :meth:`save` wrote."""
        try:
            text = Path(path).read_text(encoding="utf-8")
            json.loads(text)
            tokens = cls.from_text(text)
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise FileError(f"cannot read the tokens {str(path)!r}: {reason}") from error
        except Exception as error:  # tokenizers raises bare Exception for what it cannot parse
            raise FileError(f"{str(path)!r} is not a tokens file: {error}") from error
        if tokens.pieces(range(len(SPECIAL))) != list(SPECIAL):
            got = " ".join(tokens.pieces(range(len(SPECIAL))))
            raise FileError(
                f"{str(path)!r} is not a tokens file of regard: its first tokens must be "
                f"{' '.join(SPECIAL)}; got {got}"
            )
        if (last := max(tokens.tokenizer.get_vocab().values())) >= len(tokens):
            raise FileError(
                f"{str(path)!r} is not a tokens file of regard: its {len(tokens):,} tokens must "
                f"have the numbers from 0 on without a gap; got the number {last:,}"
            )
        return tokens


def _untrained(level: Level) -> Any:
    """An empty tokenizer that cuts at white space and, unless that is all, at punctuation."""
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    if level not in ("bpe", "word", "space"):
        raise DataError(f"tokens are made at level 'bpe', 'word' or 'space'; got {level!r}")
    kind = models.BPE if level == "bpe" else models.WordLevel
    tokenizer = Tokenizer(kind(unk_token=SPECIAL[UNK]))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    )
    if level == "space":
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        return tokenizer
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.Punctuation("isolated")]
    )
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer
