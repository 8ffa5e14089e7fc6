"""Pieces: what a model reads: a thing cut into pieces, each with a label and its place in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from regard.errors import UnknownWordError
from regard.pieces.backdrop import Backdrop
from regard.text import Word, find_token, not_among

Place = tuple[int, ...]
"""Where a piece stands in the thing: of a text its characters, (start, stop); of an image its box,
(left, top, right, bottom); of a series or a sound its steps, (start, stop); of a history its row,
(row,); () is nowhere."""
T = TypeVar("T")


@dataclass(frozen=True)
class Pieces:
    """A thing as a model reads it, piece by piece."""

    labels: list[str]
    """What is shown of each piece; of one that the model does not know, the user's own text."""
    words: list[Word]
    """Runs of pieces that belong together, the words of a text; each piece is in one of them."""
    special: list[bool]
    """Pieces that stand for nothing of the thing, such as [CLS]."""
    separators: list[bool]
    """Special pieces but the first of all, marks of punctuation, and line breaks."""
    unknown: list[bool]
    """Pieces that stand for what the model does not know: it reads one mark for all of them."""
    places: list[Place]
    """Where each piece stands in the thing; () for a piece that stands for nothing of it."""
    ids: list[int]
    """The model's numbers for the pieces; empty where it has none, or they are not known."""
    text: str = ""
    """The thing, if it is a text."""
    name: str = ""
    """Its part in what is shown: "source" and "target" where there are two."""
    backdrop: Backdrop | None = field(default=None, compare=False)
    """The thing, if pieces are drawn on it: an image, a curve, a spectrogram, a list."""
    noun: str = "token"
    """What one of them is called: token, patch, step, frame, span, item."""

    @classmethod
    def plain(cls, labels: Sequence[str], ids: Sequence[int] = (), name: str = "") -> Pieces:
        """Pieces of which only the labels are known: each counts as a word."""
        no = [False] * len(labels)
        words = [Word(label, i, i + 1) for i, label in enumerate(labels)]
        return cls(list(labels), words, no, no, no, [()] * len(labels), list(ids), name=name)

    @classmethod
    def of_thing(
        cls,
        special: Sequence[str],
        labels: Sequence[str],
        places: Sequence[Place],
        behind: Backdrop | None = None,
        noun: str = "piece",
    ) -> Pieces:
        """Pieces of a thing that is no text: the special ones first, then a label for each place
        in it; ``behind`` is what they are drawn on, ``noun`` what one is called."""
        names = [*special, *labels]
        none = [False] * len(names)
        return cls(
            names,
            [Word(name, i, i + 1) for i, name in enumerate(names)],
            special=[i < len(special) for i in range(len(names))],
            separators=none,
            unknown=none,
            places=[*[()] * len(special), *places],
            ids=list(range(len(names))),  # no piece is another one again
            backdrop=behind,
            noun=noun,
        )

    @classmethod
    def numbered(cls, count: int) -> Pieces:
        """Pieces of which only the number is known."""
        return cls.plain([str(i) for i in range(count)])

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def placed(self) -> bool:
        """Whether it is known where the pieces stand; if not, each counts as a word."""
        return any(self.places)

    @property
    def nouns(self) -> str:
        """What several of them are called."""
        return "patches" if self.noun == "patch" else f"{self.noun}s"

    @property
    def padding(self) -> list[bool]:
        """What a model reads behind the end of a thing that is shorter than what it reads: special
        pieces that stand for nothing of the thing, and yet have a place."""
        if self.backdrop is None:
            return [False] * len(self)
        return [own and bool(at) for own, at in zip(self.special, self.places, strict=True)]

    @property
    def sinks(self) -> list[bool]:
        """What ``--no-sink`` leaves out: the first piece and the special ones."""
        return [i == 0 or special for i, special in enumerate(self.special)]

    @property
    def silent(self) -> list[bool]:
        """Pieces that say nothing to the model about the thing: special and unknown ones."""
        return [a or b for a, b in zip(self.special, self.unknown, strict=True)]

    def by_word(self, of: Sequence[T]) -> list[T]:
        """What holds for each piece, for each word by its first piece."""
        return [of[word.start] for word in self.words]

    def word(self, text: str) -> tuple[Word, int]:
        """The word (or else the piece) that ``text`` names, and how often it occurs."""
        names = [word.text for word in self.words]
        try:
            place, times = find_token(names, text)
            return self.words[place], times
        except UnknownWordError:
            if text.rpartition("#")[0] in names:
                raise
        try:
            place, times = find_token(self.labels, text)
        except UnknownWordError:
            raise not_among(text, names, self.labels) from None
        return Word(self.labels[place], place, place + 1), times

    def after(self, label: str, token: int) -> Pieces:
        """With a special piece in front: what a decoder reads begins with its start token."""
        moved = [Word(w.text, w.start + 1, w.stop + 1) for w in self.words]
        return replace(
            self,
            labels=[label, *self.labels],
            words=[Word(label, 0, 1), *moved],
            special=[True, *self.special],
            separators=[False, *self.separators],
            unknown=[False, *self.unknown],
            places=[(), *self.places],
            ids=[token, *self.ids],
        )

    def before(self, label: str, token: int) -> Pieces:
        """With a special piece at the end, such as the mark of a sentence's end."""
        n = len(self)
        return replace(
            self,
            labels=[*self.labels, label],
            words=[*self.words, Word(label, n, n + 1)],
            special=[*self.special, True],
            separators=[*self.separators, True],
            unknown=[*self.unknown, False],
            places=[*self.places, ()],
            ids=[*self.ids, token],
        )

    def told(self, said: Sequence[str]) -> Pieces:
        """With what was said of each behind its label: "3,5 (bag)"."""
        labels = [f"{label} ({one})" for label, one in zip(self.labels, said, strict=True)]
        words = [Word(label, i, i + 1) for i, label in enumerate(labels)]
        return replace(self, labels=labels, words=words)

    def beginning(self, n: int) -> Pieces:
        """The first ``n`` pieces."""
        return replace(
            self,
            labels=self.labels[:n],
            words=[Word(w.text, w.start, min(n, w.stop)) for w in self.words if w.start < n],
            special=self.special[:n],
            separators=self.separators[:n],
            unknown=self.unknown[:n],
            places=self.places[:n],
            ids=self.ids[:n],
        )

    def without_first(self) -> Pieces:
        """Without the first piece, which stands alone: the mark with which a decoder begins."""
        moved = [Word(w.text, w.start - 1, w.stop - 1) for w in self.words[1:]]
        parts = ("labels", "special", "separators", "unknown", "places", "ids")
        return replace(self, words=moved, **{name: getattr(self, name)[1:] for name in parts})

    def without_last(self) -> Pieces:
        """Without the last piece, which a decoder never reads."""
        return self.beginning(len(self) - 1)
