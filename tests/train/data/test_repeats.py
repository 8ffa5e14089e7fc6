"""Short sentences are seen more often; nothing else changes."""

from regard.train.data.pairs import Pair
from regard.train.data.repeats import repeated


def test_three_words_are_short_and_four_are_not() -> None:
    pairs = [
        Pair("Hallo!", "Hello!", 1),
        Pair("Wie geht es", "How are you", 2),
        Pair("Wie geht es dir?", "How are you?", 3),
    ]
    assert [p.number for p in repeated(pairs, 3)] == [1, 1, 1, 2, 2, 2, 3]


def test_once_is_as_it_was() -> None:
    pairs = [Pair("Hallo!", "Hello!", 1), Pair("Wie geht es dir?", "How are you?", 2)]
    assert repeated(pairs, 1) == pairs
