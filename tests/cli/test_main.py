"""The command as a whole: mistakes, closed pipes, Ctrl-C, colours."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regard.worked.source import shipped
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


def test_ctrl_c_while_the_error_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(message: str) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("regard.cli.fail", interrupted)
    assert regard("chek").returncode == 130


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


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell: str) -> None:
    def asked(instruction: str, words: str = "") -> subprocess.CompletedProcess[str]:
        typed = words.split(" ")
        at = typed[-1] if shell == "fish" else str(len(typed) - 1)
        told = {"_REGARD_COMPLETE": f"{shell}_{instruction}", "COMP_WORDS": words, "COMP_CWORD": at}
        return subprocess.run(COMMAND, capture_output=True, text=True, env=os.environ | told)

    assert "_regard_completion" in asked("source").stdout
    for words, expected in (
        ("regard lo", "look"),
        ("regard look minilm a --part ", "decoder"),
        ("regard words ne", "nearest"),
        ("regard nonsense ", ""),  # a line that is half typed is no mistake
    ):
        done = asked("complete", words)
        assert expected in done.stdout, words
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_itself_completes(tmp_path: Path) -> None:
    command = tmp_path / "regard"  # the completion runs the program by its name
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m regard "$@"\n')
    command.chmod(0o755)
    script = (
        f"PATH={shlex.quote(str(tmp_path))}:$PATH\n"
        'eval "$(_REGARD_COMPLETE=bash_source regard)"\n'
        "COMP_WORDS=(regard exp); COMP_CWORD=1; _regard_completion regard\n"
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["explain", "export"], done.stderr


@pytest.mark.parametrize(
    "line", ["look minilm a --layer x", "read a --layer x", "translate a --head x"]
)
def test_a_number_that_is_none_is_said_so(line: str) -> None:
    done = regard(*line.split())
    assert done.returncode == 2
    assert done.stderr.endswith("'x' is not a valid whole number.\n")


def test_a_dash_is_standard_input_for_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = shipped()["two-heads"].read_bytes()
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 1 2\ncat 2 1\nsat 3 1\n")
    for content, arguments, expected in (
        (example, ["check", "-"], "All 42 numbers are right."),
        (b"\xef\xbb\xbf" + example, ["check", "-"], "All 42 numbers are right."),
        (example, ["explain", "--example", "-"], "Multi-head"),
        (b"the cat sat\n", ["explain", "-", "--vectors", vectors], "the cat sat"),
        (b"the cat sat\n", ["explain", "--file", "-", "--vectors", vectors], "the cat sat"),
        (vectors.read_bytes(), ["words", "show", "-"], "Words:  3"),
        (vectors.read_bytes(), ["words", "show", "-", "cat"], "'cat': row 2 of 3"),
        (b"the cat sat\n" * 9, ["words", "train", "-", "-o", tmp_path / "v.txt"], "Written"),
    ):
        (tmp_path / "piped").write_bytes(content)
        with open(tmp_path / "piped", encoding="utf-8") as piped:
            monkeypatch.setattr(sys, "stdin", piped)
            done = regard(*arguments)
        assert expected in done.stdout, (arguments, done.stderr)


def test_streams_that_are_closed_from_the_start() -> None:
    check = f"{sys.executable} -m regard check two-heads"
    for line, code in ((f"{check} >&-", 0), (f"{check} 2>&-", 0), (f"{check} --no 2>&- >&-", 2)):
        done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, cwd=ROOT)
        assert (done.returncode, done.stderr) == (code, "")
