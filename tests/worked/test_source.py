"""The file of a worked example: what cannot be read, and where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import ExampleError, FileError
from regard.worked.check import check
from regard.worked.example import Example
from regard.worked.source import ExampleFile
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


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "worked.toml"
    file.write_bytes("\ufeffx = [[1]]\n".encode())
    assert ExampleFile.read(file).content == {"x": [[1]]}


def test_json_has_the_same_keys_and_keeps_its_digits(tmp_path: Path) -> None:
    file = tmp_path / "worked.json"
    file.write_text('{"x": [[1]], "claims": {"weights": [[1.00]]}}')
    read = ExampleFile.read(file).content
    assert str(read["claims"]["weights"][0][0]) == "1.00"
    assert Example.load(file).x.shape == (1, 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"x": [[1]', "worked.json' is not valid JSON: Expecting ',' delimiter: line 1 column 11"),
        ('{"x": [[1]], "x": [[2]]}', "has the key 'x' twice: drop one of them"),
        ("[1]", "worked.json' must hold an object"),
        ('{\n"x": [[NaN]]\n}', "line 2: x[0][0] must be finite, at most 1.8e+308, got NaN"),
        ('{\n"x": [[1]],\n"claims": {\n"score": 1}}', "line 4: claims.score: no step is called"),
        ('{"x": [[1, 2], [3]]}', "x is ragged"),
    ],
)
def test_json_that_cannot_be_read(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "worked.json"
    file.write_text(text)
    with pytest.raises(ExampleError) as error:
        check(file)
    assert words in str(error.value)
