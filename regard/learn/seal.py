"""Seal: right answers as a page can carry them: it can tell a right one and does not show it.

For each number the forms in which it may be typed (0.37, 0.374, …) go through a small hash, salted
with the exercise's number. That keeps nobody out who wants in; it keeps the answer out of sight.
``script/answer.js`` is the twin of this file.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from regard.learn.judge import CHECKED, DECIMALS, fits, flat, rounds_to, true_value, words_of
from regard.learn.question import Question

MOST = 8
"""Digits behind the point that are told apart."""
PRIME = 16777619
STARTS = (2166136261, 2538058380)


def sealed(question: Question) -> dict[str, Any]:
    """``{"kind", "numbers" | "words"}``: a list of hashes for each number; none for open ones."""
    if question.kind not in CHECKED:
        return {"kind": "open"}
    if question.kind == "word":
        return {"kind": "word", "words": [digest(question, w) for w in words_of(question)]}
    return {
        "kind": "numbers",
        "numbers": [
            [digest(question, form) for form in forms(true)] for true in flat(true_value(question))
        ],
    }


def forms(true: float) -> list[str]:
    """How a number may be typed, as digits:units; with ~ what is right but has too few digits."""
    made = []
    for digits in range(MOST + 1):
        unit = Decimal(1).scaleb(-digits)
        middle = round(Decimal(true) / unit)
        for units in (middle - 1, middle, middle + 1):
            typed = units * unit
            if fits(typed.quantize(unit), true):
                made.append(f"{digits}:{units}")
            elif digits < DECIMALS and rounds_to(typed.quantize(unit), true):
                made.append(f"~{digits}:{units}")
    return made


def digest(question: Question, text: str) -> str:
    """Two FNV-1a hashes of 32 bits, side by side."""
    return "".join(f"{_fnv(f'{question.number} {text}', start):08x}" for start in STARTS)


def _fnv(text: str, start: int) -> int:
    value = start
    for byte in text.encode():
        value = (value ^ byte) * PRIME & 0xFFFFFFFF
    return value
