"""Importance over a corpus: the texts one by one, stopped and resumed, shared by processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.errors import FileError, RegardError
from regard.inside.ablate.ablate import ablate
from regard.inside.ablate.corpus import EffectReader, check_corpus, rank_by_effect
from regard.inside.ablate.loading import own_reading, text_reading
from regard.inside.ablate.request import AblationRequest
from regard.inside.heads.corpus import BLOCK
from regard.inside.textmodel import load

LINES = [f"The {word} was {how}" for word in ("animal", "street") for how in ("tired", "wide")]
LINES = [*LINES, "", *LINES[::-1], "It sat down", "The street stayed"]


class Alone:
    """One process; or one of several, whose others' sums it is told."""

    rank, size = 0, 1

    def collected(self, value: Any) -> list[Any]:
        return [value]

    def highest(self, *values: float) -> list[float]:
        return list(values)

    def from_main(self, act: Callable[[], Any]) -> Any:
        return act()


@pytest.fixture(scope="module")
def reader(folders: dict[str, Path]) -> EffectReader:
    read = text_reading(load(str(folders["Llama"]), predicts=True))
    return EffectReader(read, "self", "probability", "zero")


def test_the_mean_of_the_texts_one_by_one(reader: EffectReader, tmp_path: Path) -> None:
    corpus = tmp_path / "texts.txt"
    corpus.write_text("\n".join(LINES) + "\n")
    state = rank_by_effect("tiny", 1, reader, str(corpus), Alone())
    found = state.importance()
    texts = [line for line in LINES if line]
    changes = []
    for text in texts:
        effects = ablate(reader.trial(text, None), AblationRequest()).effects
        changes.append(next(e.change for e in effects if (e.layer, e.head) == (1, 2)))
    one = found.heads[1, 2]
    mean = sum(changes) / len(texts)
    assert one.change == pytest.approx(mean, abs=1e-8)
    assert one.size == pytest.approx(sum(map(abs, changes)) / len(texts), abs=1e-8)
    squares = sum((c - mean) ** 2 for c in changes) / len(texts)
    assert one.spread == pytest.approx(squares**0.5, abs=1e-6)
    assert (state.sums.texts, state.sums.empty) == (len(texts), 1)
    sizes = [head["importance"] for head in found.to_json()["heads"]]
    assert sizes == sorted(sizes, reverse=True)


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(
    reader: EffectReader, tmp_path: Path
) -> None:
    corpus, saved = tmp_path / "texts.txt", str(tmp_path / "state.json")
    corpus.write_text("\n".join(LINES) + "\n")
    whole = rank_by_effect("tiny", 1, reader, str(corpus), Alone())
    stop = threading.Event()
    stop.set()
    half = rank_by_effect("tiny", 1, reader, str(corpus), Alone(), state_file=saved, stop=stop)
    assert half.lines == BLOCK < whole.lines
    rest = rank_by_effect("tiny", 1, reader, str(corpus), Alone(), state_file=saved)
    assert rest.importance() == whole.importance()
    with pytest.raises(RegardError, match="its size is 1, now it is 2"):
        rank_by_effect("tiny", 2, reader, str(corpus), Alone(), state_file=saved)
    (tmp_path / "other.json").write_text('{"regard": "heads"}')
    with pytest.raises(FileError, match="not the state of 'regard ablate --corpus'"):
        rank_by_effect(
            "tiny", 1, reader, str(corpus), Alone(), state_file=str(tmp_path / "other.json")
        )


def test_what_a_corpus_cannot_be_about(reader: EffectReader) -> None:
    trial = reader.trial("The animal", None)
    assert check_corpus(trial, None, None) == ("self", "probability")
    with pytest.raises(RegardError, match="got --part cross"):
        check_corpus(trial, "cross", None)
    with pytest.raises(RegardError, match="can be measured, got 'cosine'"):
        check_corpus(trial, None, "cosine")
    with pytest.raises(RegardError, match="has no heads that could be ranked"):
        check_corpus(own_reading("bahdanau")("Ja.", None), None, None)
