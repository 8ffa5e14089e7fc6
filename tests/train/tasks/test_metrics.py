"""Metrics: values by hand, signatures, buckets."""

from __future__ import annotations

import math
import sys

import pytest

from regard.errors import DataError, MissingExtraError
from regard.train.tasks.metrics import bleu, by_length, chrf


def test_bleu_by_hand() -> None:
    # 5 tokens against 6: precisions 5/5, 4/4, 3/3, 2/2, brevity exp(1 - 6/5).
    score = bleu(["a b c d e"], ["a b c d e f"])
    assert score.value == pytest.approx(100 * math.exp(-1 / 5))
    assert score.name == "BLEU"
    assert "tok:13a" in score.signature
    assert str(score).startswith("BLEU 81.9 (nrefs:1")


def test_perfect_and_nothing() -> None:
    assert bleu(["the same four words"], ["the same four words"]).value == pytest.approx(100)
    assert chrf(["same"], ["same"]).value == pytest.approx(100)
    assert chrf(["abc"], ["xyz"]).value == 0
    assert chrf(["abc"], ["xyz"]).signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6")


def test_buckets_by_source_words() -> None:
    sources = ["eins", "eins zwei drei", "eins zwei drei vier"]
    references = ["one two three four"] * 3
    said = ["one two three four", "no", "one two three four"]
    buckets = by_length(sources, said, references, edges=(1, 3))
    assert [(b.least, b.most, b.sentences) for b in buckets] == [(1, 1, 1), (2, 3, 1), (4, None, 1)]
    assert [round(b.bleu) for b in buckets] == [100, 0, 100]
    assert len(by_length(sources[:1], said[:1], references[:1])) == 1


def test_unequal_or_none() -> None:
    with pytest.raises(DataError, match="got 1 and 2"):
        bleu(["a"], ["a", "b"])
    with pytest.raises(DataError, match="got 0 and 0"):
        chrf([], [])


def test_without_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(MissingExtraError, match="BLEU needs sacrebleu: pip install sacrebleu"):
        bleu(["a"], ["a"])
