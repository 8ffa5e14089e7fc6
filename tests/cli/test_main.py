"""The command as a whole: mistakes, closed pipes, Ctrl-C, colours."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.run import ROOT, regard

COMMAND = [sys.executable, "-m", "regard"]


def test_a_command_that_is_not_there_suggests_the_nearest() -> None:
    done = regard("chek", "x.toml")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "regard: error: there is no command 'chek'; did you mean 'check'?"
    )


@pytest.mark.parametrize("arguments", [[], ["--help"], ["words"]])
def test_help_is_not_an_error(arguments: list[str]) -> None:
    done = regard(*arguments)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: regard")


@pytest.mark.parametrize("more", [[], ["--json", "-"]])
def test_a_closed_pipe_is_not_mistaken_for_a_result(more: list[str]) -> None:
    """Exit code 1 of ``check`` means that numbers are wrong; a reader who left means nothing."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [*COMMAND, "check", "tutorial-corrected", *more]
    done = subprocess.run(
        command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == ""


def test_ctrl_c_is_one_line_and_exit_130() -> None:
    process = subprocess.Popen(
        [
            *COMMAND,
            "cost",
            "--lengths",
            "512,1024,2048,4096",
            "--repeats",
            "500",
            "--budget",
            "600",
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    process.stderr.readline()  # it says that it measures: it is in the middle of the work
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.endswith("regard: stopped\n")
    assert "Traceback" not in err


def test_a_terminal_gets_true_colours() -> None:
    main, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    command = [*COMMAND, "explain", "--example", "tutorial-corrected"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    assert b"\x1b[38;2;" in shown
