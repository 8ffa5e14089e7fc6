"""Texts to learn vectors from: read as sentences, and refused by name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regard.errors import FileError, RegardError
from regard.vectors import corpus
from regard.vectors.word2vec import train


def test_a_packed_text_case_and_spaces(tmp_path: Path) -> None:
    path = tmp_path / "text.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfDon't stop, Bob.\n"))
    assert set(train(path, min_count=1).words.words) == {"don't", "stop", ",", "bob", "."}
    assert set(train(path, min_count=1, lower=False, spaces=True).words.words) == {
        "Don't", "stop,", "Bob.",
    }  # fmt: skip


def test_a_long_line_is_trained_in_parts_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "LONGEST", 10)
    path = tmp_path / "text"
    path.write_text(" ".join(f"w{i}" for i in range(25)))
    done = train(path, min_count=1)
    assert len(done.words) == 25
    assert (done.sentences, done.cut_lines) == (1, 1)


def test_progress_goes_over_the_text_once_more_than_the_epochs(text: Path) -> None:
    calls: list[tuple[int, int]] = []
    train(text, min_count=1, epochs=2, progress=lambda done, total: calls.append((done, total)))
    assert calls == [(1000, 3000), (2000, 3000), (3000, 3000)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no words"),
        (b"\n \n", "holds no words"),
        (b"one two two\n", "occurs at least min_count=5 times; lower it"),
        (b"fine\ncaf\xe9\n", r"line 2: b'\\xe9\\n' is not UTF-8"),
    ],
)
def test_texts_that_cannot_be_trained_on(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(content)
    with pytest.raises(RegardError, match=message):
        train(path)


def test_what_is_no_file_or_no_list_of_words(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*No such file"):
        train(tmp_path / "none")
    with pytest.raises(FileError, match=r"cannot read .*Is a directory"):
        train(tmp_path)
    with pytest.raises(RegardError, match="must be a list of words, got a string"):
        train(["one sentence"])
