"""ROUGE: how many words, pairs of words and longest common sequences a summary shares with the
reference (Lin 2004).

Words are runs of letters and digits in small letters, without endings cut off; F1 of each summary,
on average over all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from regard.errors import DataError

WORD = re.compile(r"[^\W_]+")


def rouge_words(text: str) -> list[str]:
    """What is compared of a text."""
    return WORD.findall(text.lower())


def rouge(summaries: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """ROUGE-1, ROUGE-2 and ROUGE-L of summaries, one reference each; from 0 to 100."""
    if len(summaries) != len(references) or not summaries:
        raise DataError(
            "a score needs as many summaries as references, at least one; "
            f"got {len(summaries)} and {len(references)}"
        )
    totals = {"ROUGE-1": 0.0, "ROUGE-2": 0.0, "ROUGE-L": 0.0}
    for summary, reference in zip(summaries, references, strict=True):
        said, right = rouge_words(summary), rouge_words(reference)
        totals["ROUGE-1"] += _shared(said, right, 1)
        totals["ROUGE-2"] += _shared(said, right, 2)
        totals["ROUGE-L"] += _f1(_longest(said, right), len(said), len(right))
    return {name: 100 * total / len(summaries) for name, total in totals.items()}


def first_words(text: str, count: int) -> str:
    """The beginning of a text, of so many words."""
    return " ".join(rouge_words(text)[:count])


def copied(summaries: Sequence[str], texts: Sequence[str]) -> float:
    """The share of the words of summaries that stand in their texts too."""
    stand = [
        word in known
        for summary, text in zip(summaries, texts, strict=True)
        for known in [set(rouge_words(text))]
        for word in rouge_words(summary)
    ]
    return sum(stand) / len(stand) if stand else 0.0


def _shared(said: list[str], right: list[str], n: int) -> float:
    """F1 of runs of ``n`` words, each counted as often as both have it."""
    one, other = _runs(said, n), _runs(right, n)
    return _f1((one & other).total(), one.total(), other.total())


def _runs(words: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _f1(hits: int, said: int, right: int) -> float:
    return 2 * hits / (said + right) if hits else 0.0


def _longest(one: list[str], other: list[str]) -> int:
    """The length of the longest common sequence, gaps allowed."""
    row = [0] * (len(other) + 1)
    for word in one:
        before = 0
        for j, against in enumerate(other, 1):
            before, row[j] = row[j], before + 1 if word == against else max(row[j], row[j - 1])
    return row[-1]
