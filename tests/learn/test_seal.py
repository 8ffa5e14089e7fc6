"""Sealed answers: every form that the judge takes for right, and no other."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from regard.learn.judge import fits
from regard.learn.question import Question
from regard.learn.seal import MOST, digest, forms, sealed


def asked(kind: str, answer: str) -> Question:
    return Question("5.2", "t", "x", ("a", "b"), "s", kind, answer)


def test_the_forms_of_a_number() -> None:
    made = forms(0.37441)
    assert {"~0:0", "~1:4", "2:37", "3:374", "4:3744", "5:37441", "8:37441000"} <= set(made)
    assert not {"1:4", "0:0", "2:38"} & set(made)
    assert {"0:8", "1:80", "2:800"} <= set(forms(8))
    assert {"0:-2", "1:-20"} <= set(forms(-2.0))


@given(st.floats(-1e4, 1e4), st.integers(0, MOST), st.integers(-2, 2))
def test_forms_are_what_the_judge_takes(true: float, digits: int, off: int) -> None:
    unit = Decimal(1).scaleb(-digits)
    units = round(Decimal(true) / unit) + off
    typed = (units * unit).quantize(unit)
    assert (f"{digits}:{units}" in forms(true)) == fits(typed, true)


def test_nothing_of_the_answer_is_in_what_is_sealed() -> None:
    question = asked("matrix", "[0.6, -0.2]")
    made = sealed(question)
    assert made["kind"] == "numbers"
    assert digest(question, "1:6") in made["numbers"][0]
    assert digest(question, "1:-2") in made["numbers"][1]
    assert "0.6" not in str(made)
    assert sealed(asked("word", "Buch|book")) == {
        "kind": "word",
        "words": [digest(question, "buch"), digest(question, "book")],
    }
    assert sealed(asked("file", "scores")) == {"kind": "open"}


def test_the_hash_is_fnv() -> None:
    """Of FNV-1a with 32 bits the hash of "a" is e40c292c; ours is of "5.2 " and the text."""
    value = 2166136261
    for byte in b"5.2 a":
        value = ((value ^ byte) * 16777619) % 2**32
    assert digest(asked("open", ""), "a").startswith(f"{value:08x}")
