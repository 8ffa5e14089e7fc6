"""Where a command's text comes from."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from regard.cli.shared.input import check_file, read_text, texts_of
from regard.errors import FileError, RegardError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_sentences_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("eins  zwei\n\ndrei\n", encoding="utf-8")
    assert texts_of(["a  b ", "c"], None, "read") == ["a b", "c"]
    assert texts_of([], str(file), "read") == ["eins  zwei", "", "drei"]
    with pytest.raises(RegardError, match="give sentences or --file, not both"):
        texts_of(["a"], str(file), "read")


def test_a_pipe_and_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    with pytest.raises(RegardError, match="nothing to translate: give a sentence, --file FILE, or"):
        texts_of([], None, "translate")


def test_one_text(tmp_path: Path) -> None:
    file = tmp_path / "story.txt"
    file.write_text("one\ntwo\n", encoding="utf-8")
    assert read_text("one two", None) == "one two"
    assert read_text(None, str(file)) == "one\ntwo"
    for text, named, got in ((None, None, "neither"), ("a", "b", "both")):
        with pytest.raises(RegardError, match=rf"or --file FILE; got {got}$"):
            read_text(text, named)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    check_file(str(tmp_path / "there"))
    with pytest.raises(FileError, match=r"cannot read '.*none': No such file or directory"):
        check_file(str(tmp_path / "none"))
    with pytest.raises(FileError, match=r"cannot read '.*': Is a directory"):
        check_file(str(tmp_path))
