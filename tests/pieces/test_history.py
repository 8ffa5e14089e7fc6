"""A history as pieces: its items with their rows, and the catalogue they come from."""

from __future__ import annotations

import pytest

from regard.errors import DataError, RegardError
from regard.pieces.history import Catalogue, History, history_pieces

CATALOGUE = Catalogue(["a", "b", "c"], {"a": "Alien", "c": "Contact"}, again=True)


def history(*items: str) -> History:
    return History("7", list(items), [str(i) for i in range(len(items))], [False] * len(items))


def test_numbers_come_after_the_special_tokens() -> None:
    assert len(CATALOGUE) == 7
    assert CATALOGUE.numbers(["c", "a"]) == [6, 4]
    assert [CATALOGUE.item(number) for number in (4, 5, 6)] == ["a", "b", "c"]
    assert "b" in CATALOGUE
    assert "d" not in CATALOGUE


def test_an_item_may_be_named_by_its_title() -> None:
    assert CATALOGUE.number("Contact") == CATALOGUE.number("c") == 6
    assert [CATALOGUE.title(item) for item in "ab"] == ["Alien", "b"]
    with pytest.raises(RegardError, match="knows no item 'Alein'; did you mean 'Alien'"):
        CATALOGUE.number("Alein")


def test_through_text_and_back() -> None:
    assert Catalogue.from_text(CATALOGUE.to_text()) == CATALOGUE
    with pytest.raises(DataError, match="no catalogue of items"):
        Catalogue.from_text('{"items": []}')


def test_the_last_items_that_are_known() -> None:
    pieces = history_pieces(CATALOGUE, history("c", "x", "a", "b", "y"), most=2)
    assert pieces.labels == ["<s>", "Alien", "b"]
    assert pieces.places == [(), (2,), (3,)]
    assert pieces.ids == [2, 4, 5]
    assert pieces.special == [True, False, False]
    assert pieces.nouns == "items"
    assert pieces.backdrop is not None
    assert pieces.backdrop.values.tolist() == [
        *(["1", "0", "Contact"], ["2", "1", "x"], ["3", "2", "Alien"], ["4", "3", "b"]),
        ["5", "4", "y"],
    ]
    with pytest.raises(DataError, match="knows none of the 1 item of user '7'"):
        history_pieces(CATALOGUE, history("x"))
