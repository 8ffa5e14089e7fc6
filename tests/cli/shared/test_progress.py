"""Progress of commands: plain lines in a pipe, a bar on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time

import pytest

from regard.cli.shared.progress import CommandProgress, changes, counted


def test_plain_progress_speaks_only_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 1.0, 6.0, 6.0, 7.0, 12.0, 12.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with counted("loading") as report:
        for done in (10, 20, 30, 40):  # at 1, 6, 7 and 12 seconds
            report(done, 100)
    assert capsys.readouterr().err == "loading: 20 %\nloading: 40 %\n"


def test_a_line_whenever_something_new_begins(capsys: pytest.CaptureFixture[str]) -> None:
    with CommandProgress("measuring", changes("measuring")) as progress:
        for share, what in ((0.0, "memory"), (0.1, "memory"), (0.5, "time\x1b[31m")):
            progress(share, what)
        progress.note("that was all")
    err = capsys.readouterr().err
    assert err == "measuring memory\nmeasuring time\\x1b[31m\nthat was all\n"


def test_what_is_not_shown_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with CommandProgress("measuring", changes("measuring"), shown=False) as progress:
        progress(0.5, "memory")
        progress.note("a note")
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal() -> None:
    script = (
        "from regard.cli.shared.progress import CommandProgress, changes\n"
        "with CommandProgress('measuring', changes('measuring')) as progress:\n"
        "    progress(0.5, 'half of it')\n"
        "    progress.note('a note')\n"
    )
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80"}
    subprocess.run([sys.executable, "-c", script], stderr=theirs, env=environment, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "measuring" in shown
    assert "━" in shown
    assert "half of it" in shown
    assert "a note\r\n" in shown
    assert "measuring half of it" not in shown, "the plain line is for pipes"


def test_what_was_begun_is_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe that was told 10 % is told 100 % too, however soon it follows."""
    clock = iter([0.0, 6.0, 6.0, 6.1, 6.2, 6.2])
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    with counted("training") as report:
        for done in (10, 50, 100):  # at 6, 6.1 and 6.2 seconds
            report(done, 100)
    assert capsys.readouterr().err == "training: 10 %\ntraining: 100 %\n"
