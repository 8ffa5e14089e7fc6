"""Where a command's text comes from."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from regard.cli.shared.input import read_text, texts_of
from regard.errors import FileError, RegardError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def piped() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"one\ntwo\n")))


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


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    for sentences, named in ((["-"], None), ([], "-")):
        monkeypatch.setattr(sys, "stdin", piped())
        assert texts_of(sentences, named, "read") == ["one", "two"]
    for text, file in (("-", None), (None, "-")):
        monkeypatch.setattr(sys, "stdin", piped())
        assert read_text(text, file) == "one\ntwo"
    assert texts_of(["-", "-"], None, "read") == ["-", "-"], "two sentences of one sign"


def test_a_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    for asked in (lambda: texts_of([], None, "read"), lambda: read_text("-", None)):
        with pytest.raises(FileError, match="cannot read standard input: it is closed"):
            asked()
