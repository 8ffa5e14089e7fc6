"""Where the reader was: kept, damaged, and where nothing can be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.learn.bookmarks import Bookmarks, state_folder


def test_kept_from_one_day_to_the_next(tmp_path: Path) -> None:
    path = tmp_path / "state" / "learn.json"
    marks = Bookmarks.load(path)
    assert (marks.pages, marks.finished, marks.solved, marks.trouble) == ({}, set(), set(), "")
    marks.pages["01-one-vector"] = 3
    marks.solved.add("1.2")
    marks.save()
    again = Bookmarks.load(path)
    assert (again.pages, again.solved) == ({"01-one-vector": 3}, {"1.2"})
    again.reset()
    assert Bookmarks.load(path).pages == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b'{"pages": {"a": -1}, "finished": [], "solved": []}',
        b'{"pages": {"a": "b"}, "finished": [], "solved": []}',
        b'{"pages": {}, "finished": [[1]], "solved": []}',
        b'{"pages": {}, "finished": {}, "solved": "1.1"}',
        b"[" * 100_000,
    ],
)
def test_a_damaged_file_begins_anew(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "learn.json"
    path.write_bytes(content)
    marks = Bookmarks.load(path)
    assert marks.pages == {}
    assert marks.trouble.endswith("beginning anew")
    marks.save()
    assert Bookmarks.load(path).trouble == ""


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    marks = Bookmarks.load(tmp_path / "file" / "learn.json")
    marks.save()
    assert marks.trouble.startswith("your place is not remembered: ")


def test_the_folder_for_states(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGARD_STATE", str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv("REGARD_STATE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", "/states")
    assert state_folder() == Path("/states/regard")
