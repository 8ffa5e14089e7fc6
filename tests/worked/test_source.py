"""The file of a worked example: what cannot be read, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import ExampleError, FileError
from regard.worked.example import Example
from tests.worked.written import load


def test_broken_toml_says_where(tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match=r"not valid TOML: .*line 2, column 5"):
        load(tmp_path, "title = 1\nx = ]")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"x = [[{'9' * 5000}]]", "has a number that is too long to be read"),
        ("x = [[1e99999999999999999999]]", "has a number that is too long to be read"),
        ("x = " + "[" * 5000, "has lists nested too deeply"),
    ],
)
def test_what_the_toml_reader_cannot_bear(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ExampleError, match=rf"worked\.toml' {words}"):
        load(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read '.*nowhere\.toml': No such file"):
        Example.load(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes("title = 'é'".encode("latin-1"))
    with pytest.raises(FileError, match=r"is not UTF-8 text \(byte 9\)"):
        Example.load(tmp_path / "latin.toml")


def test_a_file_comes_before_a_name_and_a_folder_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The examples that come with regard, by their names."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tutorial-printed").mkdir()
    assert Example.load("tutorial-printed").tokens == ["x1", "x2", "x3"]
    (tmp_path / "two-heads").write_text("x = [[1, 2]]")
    assert Example.load("two-heads").tokens == ["x1"]
    with pytest.raises(FileError, match=r"No such file or directory; did you mean 'two-heads'\?$"):
        Example.load("two-head")
