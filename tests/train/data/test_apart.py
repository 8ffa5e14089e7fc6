"""Apart: pieces fall into their halves, by chance and never into another text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.pieces.tokenizer import SPECIAL, START, UNK, Tokenizer
from regard.train.data.apart import halves, taken_apart
from regard.train.data.config import PairsConfig

TEXTS = ["der neue Wagen", "neue Wege", "der Wagen der Neuen", "ein neuer Weg"] * 3
TOKENS = Tokenizer.train(TEXTS, 60)
HALVES = halves(TOKENS)
MOST = 1000


def cut(text: str, chance: float, *seed: int, most: int = MOST) -> list[str]:
    (row,) = taken_apart([TOKENS.encode(text)], HALVES, chance, seed, most)
    return TOKENS.pieces(row)


def test_halves_are_the_merges() -> None:
    assert HALVES.shape == (len(TOKENS), 2)
    for piece, (left, right) in enumerate(HALVES.tolist()):
        whole, *parts = TOKENS.pieces([piece, left, right] if left >= 0 else [piece])
        assert "".join(parts) == whole if parts else len(whole) == 1 or piece < len(SPECIAL)


def test_no_chance_changes_nothing_and_certainty_leaves_letters() -> None:
    assert cut("der Wagen", 0.0, 1) == TOKENS.pieces(TOKENS.encode("der Wagen"))
    assert cut("der Wagen", 1.0, 1) == [START, *"der", START, *"Wagen"]
    assert taken_apart([], HALVES, 0.5, (1,), MOST) == []
    assert taken_apart([[], [7], []], HALVES, 0.0, (1,), MOST) == [[], [7], []]


@given(
    st.lists(st.text("derWagnu ", max_size=20), max_size=7),
    st.floats(0, 1),
    st.integers(0, 1000),
)
def test_every_row_stays_the_same_text(texts: list[str], chance: float, seed: int) -> None:
    rows = [TOKENS.encode(text) for text in texts]
    fell = taken_apart(rows, HALVES, chance, (seed, 3), MOST)
    assert [TOKENS.decode(row) for row in fell] == [TOKENS.decode(row) for row in rows]
    assert all(len(new) >= len(old) for new, old in zip(fell, rows, strict=True))
    assert fell == taken_apart(rows, HALVES, chance, (seed, 3), MOST)


def test_unknown_and_special_tokens_stay() -> None:
    assert taken_apart([[UNK, 0, 2, 3]], HALVES, 1.0, (1,), MOST) == [[UNK, 0, 2, 3]]


def test_a_piece_falls_as_often_as_is_said() -> None:
    whole = int(np.argmax(HALVES[:, 0] >= 0))  # the first merge: its halves are letters
    rows = taken_apart([[whole]] * 20_000, HALVES, 0.1, (7,), MOST)
    assert sum(len(row) == 2 for row in rows) == pytest.approx(2000, abs=4 * 42)  # 4 deviations


def test_passes_and_seeds_differ() -> None:
    text = " ".join(TEXTS)
    assert cut(text, 0.3, 1, 0) != cut(text, 0.3, 1, 1)
    assert cut(text, 0.3, 1, 0) != cut(text, 0.3, 2, 0)


def test_what_would_be_too_long_stays_whole() -> None:
    assert cut("der Wagen", 1.0, 1, most=10) == [START, *"der", START, *"Wagen"]
    assert cut("der Wagen", 1.0, 1, most=9) == TOKENS.pieces(TOKENS.encode("der Wagen"))


def test_words_cannot_fall() -> None:
    with pytest.raises(DataError, match=r"needs tokens of byte-pair encoding \(data.level bpe\)"):
        halves(Tokenizer.train(TEXTS, 60, "word"))


def test_the_chance_is_one() -> None:
    with pytest.raises(ConfigError, match=r"apart must be from 0 to 1, got 1\.5"):
        PairsConfig(pairs="a.tsv", apart=1.5)
