"""``regard live`` as a person runs it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.run import regard
from tests.live.runs import save_run


def test_a_page_is_written_and_its_size_said(tmp_path: Path) -> None:
    run, to = save_run(tmp_path, "near"), tmp_path / "near.html"
    done = regard("live", run, "-o", to, "--example", "the dog sees")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"wrote {to}: {to.stat().st_size / 1e6:.1f} MB, opens offline\n"
    assert "the dog sees" in to.read_text(encoding="utf-8")


def test_a_folder_is_written_and_its_files_said(tmp_path: Path) -> None:
    run, to = save_run(tmp_path, "near"), tmp_path / "a" / "gallery"
    done = regard("live", run, "--folder", to)
    assert done.returncode == 0, done.stderr
    index = f"wrote {to / 'index.html'}: put the folder on any static host, or open it"
    size = (to / "near.html").stat().st_size
    assert done.stdout.splitlines() == [f"wrote {to / 'near.html'}: {size / 1e6:.1f} MB", index]


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    for arguments, answer in (
        (("live",), "name at least one model, such as: regard live bahdanau -o page.html"),
        (("live", "bahdanau"), "a living page is a file: add -o FILE"),
        (
            ("live", "bahdanau", "-o", "a.html", "--folder", "b"),
            "a page each and an index, not both",
        ),
        (("live", "bahdanu", "-o", tmp_path / "x.html"), "did you mean 'bahdanau'"),
        (("live", "bahdanau", "-o", tmp_path / "no" / "x.html"), "no"),
    ):
        done = regard(*arguments)
        assert done.returncode == 2
        assert answer in done.stderr
        assert done.stderr.count("\n") == 1
