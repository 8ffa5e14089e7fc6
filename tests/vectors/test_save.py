"""Saving vectors: what others read, what comes back, what a file cannot hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from regard.errors import FileError, RegardError
from regard.vectors import save as vectorsave
from regard.vectors.words import Words
from tests.vectors.written import NAMES, VALUES


@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin", ".vec.gz", ".bin.gz"])
def test_gensim_reads_what_is_saved(tmp_path: Path, suffix: str) -> None:
    from gensim.models import KeyedVectors

    path = tmp_path / f"vectors{suffix}"
    Words(NAMES, VALUES).save(path)
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=".bin" in suffix)
    assert theirs.index_to_key == NAMES
    assert np.array_equal(theirs.vectors, VALUES)


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)

WORD = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"]), min_size=1, max_size=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), suffix=st.sampled_from([".vec", ".vec.gz", ".bin", ".bin.gz"]))
def test_what_is_saved_is_loaded_exactly(tmp_path: Path, data: st.DataObject, suffix: str) -> None:
    names = data.draw(st.lists(WORD, min_size=1, max_size=7, unique=True))
    shape = (len(names), data.draw(st.integers(1, 5)))
    values = data.draw(arrays.arrays(np.float32, shape, elements=FLOATS))
    path = tmp_path / f"vectors{suffix}"
    Words(names, values).save(path)
    again = Words.load(path, "word2vec-binary" if ".bin" in suffix else "word2vec")
    assert again.words == names
    assert np.array_equal(again.vectors, values)


@pytest.mark.parametrize("word", ["two words", "", ". .", "a\tb", "\u00a0", "\u0085"])
def test_odd_words_of_real_files_survive_as_text(tmp_path: Path, word: str) -> None:
    path = tmp_path / "odd.vec"
    Words(["plain", word], [[1, 2], [3, 4]]).save(path)
    assert Words.load(path)[word].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("word", "name", "reason"),
    [
        ("line\nend", "x.vec", "a line end"),
        ("iphone 4", "x.vec", "a space and then a number"),
        ("end ", "x.vec", "ends in white space"),
        ("two words", "x.bin", "save as text"),
        ("\udc80", "x.vec", "not Unicode"),
    ],
)
def test_words_that_a_file_cannot_hold(tmp_path: Path, word: str, name: str, reason: str) -> None:
    with pytest.raises(RegardError, match=reason):
        Words([word], [[1, 2]]).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_without_a_known_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"must end in \.txt or \.vec"):
        Words(["a"], [[1]]).save(tmp_path / "vectors.npy")


def test_a_save_that_is_stopped_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.vec"
    path.write_text("old")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vectorsave, "text_blocks", stop)
    with pytest.raises(KeyboardInterrupt):
        Words(["a"], [[1]]).save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
