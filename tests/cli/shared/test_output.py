"""Where a command's JSON and pages go, and what is refused before any work begins."""

from __future__ import annotations

from pathlib import Path

import pytest

import regard
from regard.cli.shared.output import (
    check_outputs,
    check_single,
    say_written,
    write_json,
    write_json_lines,
    write_trace_page,
)
from regard.errors import FileError, RegardError
from regard.pieces.marks import from_labels
from regard.trace import Trace


def test_what_is_wrong_with_a_file_is_said_before_the_work(tmp_path: Path) -> None:
    check_outputs(json="-", html=None, png=str(tmp_path / "NEW.PNG"), csv=str(tmp_path / "a.txt"))
    check_outputs(png="/dev/null", svg="/dev/null")
    with pytest.raises(FileError, match=r"cannot write '.*none/a\.png': its folder does not exist"):
        check_outputs(json=None, png=str(tmp_path / "none" / "a.png"))
    with pytest.raises(RegardError, match=r"--png takes a file that ends in \.png; got '.*a\.txt'"):
        check_outputs(png=str(tmp_path / "a.txt"))
    with pytest.raises(RegardError, match="--html takes a file: - is standard output for --json"):
        check_outputs(html="-")
    (tmp_path / "link").symlink_to(tmp_path / "a.json")
    with pytest.raises(RegardError, match=r"--json and --csv name the same file: '.*link'"):
        check_outputs(json=str(tmp_path / "a.json"), csv=str(tmp_path / "link"))
    with pytest.raises(RegardError, match=r"--csv would write over '.*link', which is read: name"):
        check_outputs(None, "-", str(tmp_path / "a.json"), csv=str(tmp_path / "link"))


def test_one_sentence_for_a_page() -> None:
    check_single(2, html=None, trace=None)
    check_single(1, html="a.html")
    with pytest.raises(RegardError, match="--html takes one sentence, got 2"):
        check_single(2, trace=None, html="a.html")


def test_json_to_a_file_and_to_standard_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for write in (write_json, lambda text, to: write_json_lines([text, text], to)):
        write("{}", "-")
        write("{}", str(tmp_path / "a.json"))
        assert (tmp_path / "a.json").read_text() == capsys.readouterr().out


def test_what_was_written_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    say_written("a\x1b.png", None, "-", "b.svg")
    say_written("a.png", quietly=True)
    say_written("-", None)
    assert capsys.readouterr() == ("Written: a\\x1b.png, b.svg\n", "Written: a.png\n")


def test_a_page_needs_attention(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    read = from_labels(["a", "b"])
    with pytest.raises(RegardError, match="gru has no attention, and a page shows attention"):
        write_trace_page(str(tmp_path / "a.html"), Trace(), "a", "gru", read, quietly=True)
    with regard.record(tokens=["a", "b"]) as trace:
        regard.self_attention(torch.eye(2))
    write_trace_page(str(tmp_path / "a.html"), trace, "two words", "none", read, quietly=True)
    assert "<title>two words" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert capsys.readouterr() == ("", f"Written: {tmp_path / 'a.html'}\n")
