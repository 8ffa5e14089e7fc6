"""Examples in their parts: no sentence on two sides, whatever the pairs; fingerprints that stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.train.data.config import PairsConfig, PartsConfig
from regard.train.data.examples import Examples, by_group, divided, in_order
from regard.train.data.pairs import Pair
from regard.train.data.sentences import TextLine
from regard.train.data.split import normalised

SENTENCES = st.sampled_from(
    [f"{w} {n}{end}" for w in "ABab" for n in range(12) for end in ("", "  ", "!")]
)
PAIRS = st.lists(st.builds(Pair, SENTENCES, SENTENCES), min_size=1, max_size=60)


@given(PAIRS, st.integers(0, 5))
def test_no_sentence_is_on_two_sides(pairs: list[Pair], seed: int) -> None:
    config = PairsConfig(pairs="x", valid_share=0.2, test_share=0.2, split_seed=seed)
    try:
        parts = divided(Examples(pairs, []), None, None, config)
    except DataError:
        return
    assert sorted(parts.train + parts.valid + parts.test) == sorted(pairs)
    for side in (0, 1):
        one, two, three = (
            {normalised(str(pair[side])) for pair in part}
            for part in (parts.train, parts.valid, parts.test)
        )
        assert not one & two
        assert not one & three
        assert not two & three


@given(st.lists(st.sampled_from("abcdefgh"), min_size=60, max_size=60))
def test_no_line_is_in_two_parts(words: list[str]) -> None:
    lines = [TextLine(word, i) for i, word in enumerate([*words, *map(str, range(400))], 1)]
    found = divided(Examples(lines, []), None, None, PartsConfig(valid_share=0.1, test_share=0.1))
    parts = (found.train, found.valid, found.test)
    assert sorted((line for part in parts for line in part), key=lambda line: line.number) == lines
    sets = [{line.text for line in part} for part in parts]
    assert not sets[0] & sets[1]
    assert not sets[0] & sets[2]
    assert not sets[1] & sets[2]


def test_files_of_the_user_are_kept_and_overlap_is_counted_on_either_side() -> None:
    held = Examples([Pair("Eins", "one"), Pair("zwei", "two")], [])
    main = Examples([Pair("eins ", "a"), Pair("b", "TWO"), Pair("c", "eins")], [7])
    found = divided(main, held, None, PairsConfig(pairs="x"))
    assert (found.train, found.valid, found.test) == (main.rows, held.rows, [])
    assert (found.overlap, found.empty) == (2, [7])


def test_a_stream_keeps_its_order() -> None:
    lines = [TextLine(str(i), i) for i in range(1, 6)]
    assert in_order(lines, 0.2, 0.4, 0) == ["train"] * 2 + ["valid"] + ["test"] * 2
    with pytest.raises(DataError, match="2 lines are too few to set 2 of them aside"):
        in_order(lines[:2], 0.4, 0.4, 0)


def test_errors_name_what_the_examples_are() -> None:
    with pytest.raises(DataError, match="1 pair is too few"):
        by_group([Pair("a", "b")], 0.1, 0.0, 0)
    with pytest.raises(DataError, match="1 line is too few"):
        by_group([TextLine("a")], 0.1, 0.0, 0)


def test_fingerprints_are_what_they_were() -> None:
    """A run is known by its fingerprint: another one, and no run could be resumed."""
    pairs = Examples([Pair("a", "b"), Pair("c", "d")], [])
    assert pairs.digest().startswith("31530cb8")
    lines = Examples([TextLine("a b"), TextLine("c")], [])
    assert lines.digest().startswith("24b366cf")
