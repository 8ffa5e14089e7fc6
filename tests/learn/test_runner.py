"""Samples share a folder and their Python's names."""

from __future__ import annotations

from pathlib import Path

from regard.learn.chapter import Sample, Written
from regard.learn.runner import Runner


def test_files_names_and_commands(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def command(arguments: list[str]) -> str:
        asked.append(arguments)
        return (Path.cwd() / "a.txt").read_text()

    runner = Runner(tmp_path, command)
    runner.write(Written("a.txt", "text", "ä\n"))
    assert (
        runner.run(
            Sample("python", "from pathlib import Path; b = Path('a.txt').read_text()\n", "")
        )
        == ""
    )
    assert runner.run(Sample("python", "print(b * 2)", "")) == "ä\nä\n\n"
    assert runner.run(Sample("console", 'regard read "two words" --x', "")) == "ä\n"
    assert asked == [["read", "two words", "--x"]]
