"""A history as pieces: what one user had, item after item, and the catalogue of all items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from regard.errors import DataError, RegardError, nearest
from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces
from regard.pieces.tokenizer import BOS, SPECIAL
from regard.text import Word, number_of

if TYPE_CHECKING:  # a command that only asks for help does not load NumPy
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class History:
    """What one user had, in the order of time."""

    user: str
    items: list[str]
    times: list[str]
    """As they are written in the file."""
    tied: list[bool]
    """Whether an item has the time of the one before it, so that their order says nothing."""


@dataclass(frozen=True)
class Catalogue:
    """The items that there are, each with a number for a model and perhaps a title for people."""

    items: list[str]
    titles: dict[str, str] = field(default_factory=dict)
    again: bool = False
    """Whether users have an item again; if not, what a user has had is not recommended."""

    def __post_init__(self) -> None:
        numbers = {item: number for number, item in enumerate(self.items, len(SPECIAL))}
        object.__setattr__(self, "_numbers", numbers)

    def __len__(self) -> int:
        """How many numbers there are: the special ones come before those of the items."""
        return len(SPECIAL) + len(self.items)

    def __contains__(self, item: str) -> bool:
        return item in self._table

    @property
    def _table(self) -> dict[str, int]:
        table: dict[str, int] = self.__dict__["_numbers"]
        return table

    def number(self, item: str) -> int:
        """The model's number for an item, which may be named by its title."""
        if item in self._table:
            return self._table[item]
        named = [each for each, title in self.titles.items() if title == item]
        if len(named) == 1 and named[0] in self._table:
            return self._table[named[0]]
        raise RegardError(
            f"the model knows no item {item!r}{nearest(item, [*self.items, *self.titles.values()])}"
        )

    def item(self, number: int) -> str:
        """The item that a number stands for."""
        return self.items[number - len(SPECIAL)]

    def title(self, item: str) -> str:
        """What is shown of an item: its title, or the item itself."""
        return self.titles.get(item, item)

    def numbers(self, items: Sequence[str]) -> list[int]:
        """Of items that are all known."""
        return [self._table[item] for item in items]

    def to_text(self) -> str:
        """JSON, for the run folder."""
        content = {"items": self.items, "titles": self.titles, "again": self.again}
        return json.dumps(content, ensure_ascii=False) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Catalogue:
        """What :meth:`to_text` gave."""
        try:
            content: Any = json.loads(text)
            made = cls(content["items"], content["titles"], content["again"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"this is no catalogue of items: {error}") from error
        return made


def history_pieces(catalogue: Catalogue, history: History, most: int | None = None) -> Pieces:
    """The last ``most`` items that the model knows; a piece's place is its row of the history.

    In front stands the mark of the beginning, as in every sentence that a language model reads.
    """
    rows = [row for row, item in enumerate(history.items) if item in catalogue]
    rows = rows if most is None else rows[-most:]
    items = [history.items[row] for row in rows]
    if not items:
        had = number_of(len(history.items), "item")
        raise DataError(f"the model knows none of the {had} of user {history.user!r}")
    labels = [catalogue.title(item) for item in items]
    none = [False] * len(items)
    read = Pieces(
        labels,
        [Word(label, i, i + 1) for i, label in enumerate(labels)],
        special=none,
        separators=none,
        unknown=none,
        places=[(row,) for row in rows],
        ids=catalogue.numbers(items),
        backdrop=Backdrop("list", _rows(catalogue, history)),
        noun="item",
    )
    return read.after(SPECIAL[BOS], BOS)


def _rows(catalogue: Catalogue, history: History) -> NDArray[np.str_]:
    """The history as a list: its rows from 1, the time as it is written, and the title."""
    import numpy as np

    titles = [catalogue.title(item) for item in history.items]
    rows = enumerate(zip(history.times, titles, strict=True), 1)
    return np.array([[str(number), time, title] for number, (time, title) in rows])
