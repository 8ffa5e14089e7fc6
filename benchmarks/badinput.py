"""Bad input for every command and option: each case must end in an orderly way, whatever it was.

    python benchmarks/badinput.py                          # 10,000 cases in forked children
    python benchmarks/badinput.py --cases 500 --processes  # as processes of their own
    python benchmarks/badinput.py --seed 7 --only 1234     # one case again, with what it said

Cases are drawn from the commands' own options (asked of click, so that a new option is tried as
soon as it is there), with values that are missing, empty, of the wrong kind, huge, binary, not
readable, not writable; on top of that some have their output closed, their input closed, or are
interrupted. An orderly end: exit code 0, 1, 2, 130 or 141 within the time limit, no traceback, at
most one line of error, no file half-written, nothing beside the files that were named.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from regard.cli import COMMANDS, main, regard
from regard.worked.source import shipped

GOOD = {0, 1, 2, 130, 141}
SECONDS = 60.0
MEMORY = 6 << 30
"""Bytes of address space: a case that wants more fails here and not on the whole machine."""
HALF = re.compile(r"\.[^/]*-[0-9a-f]{8}(\.[^/]*)?")
NOISE = re.compile(r"^(fetching|looking|loading|reading|training|measuring|Written|regard: note)")
LONG_RUNNING = {"serve"}
"""Commands that run until they are stopped: their good cases are stopped at once."""


class Case(NamedTuple):
    """One command line and what happens to it."""

    number: int
    arguments: list[str]
    event: str
    """"", "closed output", "closed input", "Ctrl-C" """


class Ended(NamedTuple):
    """How a case ended."""

    code: int | None
    """None: it was still running at the time limit."""
    stderr: str
    left: list[str]
    """Files that nobody asked for."""
    most: int
    """Lines of error that it may have: ``check`` has one for each of its files."""

    @property
    def problem(self) -> str:
        errors = [line for line in self.stderr.splitlines() if line and not NOISE.match(line)]
        if self.code is None:
            return "time limit"
        if "Traceback (most recent call last)" in self.stderr:
            return "traceback"
        if self.code not in GOOD:
            return f"exit code {self.code}"
        if self.code == 2 and not 1 <= len(errors) <= self.most:
            return f"{len(errors)} lines of error"
        return "half-written file" if self.left else ""


def make_files(folder: Path) -> dict[str, str]:
    """Files of every bad kind, and some good ones, by what they are."""
    kinds: dict[str, bytes] = {
        "empty": b"",
        "blank": b" \n\t\n",
        "binary": bytes(range(256)) * 40,
        "zeros": bytes(1000),
        "latin-1": "Müller läuft\n".encode("latin-1"),
        "utf-16": "ein Satz\n".encode("utf-16"),
        "text": b"the cat sat on the mat\na dog sat\n",
        "long-line": b"word " * 3000 + b"\n",
        "long-word": b"a" * 20_000 + b"\n",
        "many-lines": b"the cat sat\n" * 3000,
        "gzip": gzip.compress(b"the cat sat on the mat\n"),
        "gzip-cut": gzip.compress(b"the cat sat on the mat\n" * 50)[:-12],
        "pairs.tsv": b"ein Hund\ta dog\neine Katze\ta cat\n",
        "odd.tsv": b"one column\ntwo\tcolumns\n\t\n",
        "labelled.tsv": b"good\ta fine film\nbad\ta dull film\n",
        "vectors.txt": b"the 1 2 3\ncat 2 1 0\nsat 0 1 1\n",
        "vectors-odd.txt": b"the 1 2 3\ncat 2 1\n",
        "vectors-nan.txt": b"the nan 2 3\ncat inf 1 2\n",
        "header.bin": b"9999999999 300\n",
        "example.toml": shipped()["two-heads"].read_bytes(),
        "broken.toml": b"x = [1, 2\n",
        "deep.toml": b"x = " + b"[" * 3000,
        "digits.toml": b"x = " + b"9" * 5000,
        "other.toml": b"[train]\nsteps = 'many'\n",
        "state.json": b'{"regard": "heads"}',
    }
    made = {}
    for name, content in kinds.items():
        (folder / name).write_bytes(content)
        made[name] = name
    (folder / "folder").mkdir()
    (folder / "folder" / "config.json").write_text('{"task": "lm", "format": 9}')
    (folder / "link-to-nothing").symlink_to("nothing")
    (folder / "round").symlink_to("round")
    (folder / "write-protected").write_text("mine")
    (folder / "write-protected").chmod(0o400)
    return made


class Generator:
    """Draws command lines from the commands' own options."""

    def __init__(self, seed: int, files: dict[str, str]) -> None:
        self.chance = random.Random(seed)
        self.files = list(files)
        self.commands = list(self._walk([], regard))

    def _walk(self, path: list[str], command: click.Command) -> Iterator[Any]:
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in sorted(command.list_commands(context)):
                found = command.get_command(context, name)
                assert found is not None
                yield from self._walk([*path, name], found)
        else:
            yield path, command

    def case(self, number: int) -> Case:
        path, command = self.chance.choice(self.commands)
        arguments = list(path)
        for parameter in command.params:
            is_argument = isinstance(parameter, click.Argument)
            chance = 0.85 if is_argument or parameter.required else 0.12
            if self.chance.random() < chance:
                arguments += self._given(parameter)
        if self.chance.random() < 0.03:
            arguments.append(self.chance.choice(["--nonsense", "-", "--", "-x", "--help"]))
        event = self.chance.choices(["", "closed output", "closed input", "Ctrl-C"], [85, 5, 5, 5])[
            0
        ]
        return Case(number, arguments, "Ctrl-C" if path[0] in LONG_RUNNING else event)

    def _given(self, parameter: click.Parameter) -> list[str]:
        if "--compile" in parameter.opts:  # it takes a minute, and writes beside regard's sources
            return []
        if getattr(parameter, "is_flag", False):
            return [self.chance.choice(parameter.opts)]
        count = max(1, parameter.nargs)
        if self.chance.random() < 0.02:
            count -= 1  # a value that is missing
        values = [self._value(parameter) for _ in range(count)]
        return values if isinstance(parameter, click.Argument) else [parameter.opts[0], *values]

    def _value(self, parameter: click.Parameter) -> str:
        named = f"{parameter.name} {parameter.metavar or ''}".lower()
        if isinstance(parameter.type, click.Choice) and self.chance.random() < 0.7:
            return str(self.chance.choice(list(parameter.type.choices)))
        if isinstance(parameter.type, click.IntRange | click.FloatRange) or parameter.type in (
            click.INT,
            click.FLOAT,
        ):
            return self.chance.choice(
                ["0", "1", "2", "3", "-1", "x", "", "1e9", "nan", "inf", "99999999", "9" * 400]
            )
        if "model" in named or "name" in named:
            return self.chance.choice(
                ["lstmn", "bahdanau", "transformer", "word-by-word", "", "no/such", "folder", "..",
                 "empty", "binary", "lstnm", "a" * 300, "simple-rnn+attention"]
            )  # fmt: skip
        if "file" in named or "folder" in named or named.startswith(("out", "text_")):
            return self.chance.choice(
                [*self.files, "folder", "nothing", "no/such/file", "new.json", "new.txt", "new.png",
                 "new.svg", "new.html", "-", "", "/dev/null", "/dev/full", "link-to-nothing",
                 "round", "write-protected", "a" * 300, "/proc/self/mem", "new-run"]
            )  # fmt: skip
        if "a.b" in named:
            return self.chance.choice(
                ["train.steps=1", "train.steps=x", "no.such=1", "=", "a", "train=3", "data.pairs=-",
                 f"train.seed={'9' * 5000}", "train.steps=" + "[" * 3000]
            )  # fmt: skip
        return self.chance.choice(
            ["the cat sat", "cat", "the", "the#2", "the#9", "cat#", "", " ", "\t", "-", "ü", "猫",
             "\x1b[31m", "\udcff", "a" * 5000, "no", "1", "nan", "[UNK]", "</script>", "{}", "a\nb"]
        )  # fmt: skip


def forked(case: Case, folder: Path) -> Ended:
    """The case in a child of this process, which has imported everything already."""
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            _in_child(case, folder, said.fileno())
        code = _waited(child, case.event)
        said.seek(0)
        stderr = said.read().decode("utf-8", "replace")
    return Ended(code, stderr, _left(folder), _most(case))


def _in_child(case: Case, folder: Path, stderr: int) -> None:
    """Never returns."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(folder)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.dup2(stderr, 2)
    if case.event == "closed output":
        reading, writing = os.pipe()
        os.close(reading)
        os.dup2(writing, 1)
    sys.stdin, sys.stdout, sys.stderr = (
        open(0, encoding="utf-8", errors="surrogateescape"),  # noqa: SIM115
        open(1, "w", encoding="utf-8"),  # noqa: SIM115
        open(2, "w", encoding="utf-8"),  # noqa: SIM115
    )
    if case.event == "closed input":
        sys.stdin = None
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code: Any = 70
    try:
        main(case.arguments)
    except SystemExit as done:
        code = 0 if done.code is None else done.code
    except BaseException:
        import traceback

        traceback.print_exc()
    with contextlib.suppress(BaseException):
        sys.stderr.flush()
    os._exit(code)


def _waited(child: int, event: str) -> int | None:
    """The exit code, or None after the time limit."""
    start = time.monotonic()
    interrupt = start + 0.3 if event == "Ctrl-C" else None
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        now = time.monotonic()
        if interrupt is not None and now > interrupt:
            os.kill(child, signal.SIGINT)
            interrupt = now + 3  # a server ends what it is doing; a second one asks again
        if now - start > SECONDS:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.002)


def process(case: Case, folder: Path) -> Ended:
    """The case as a process of its own."""
    command = [sys.executable, "-m", "regard", *case.arguments]
    with tempfile.TemporaryFile() as said:
        given: Any = subprocess.DEVNULL
        closing = {"closed output": ">&-", "closed input": "<&-"}.get(case.event, "")
        if closing:
            command = ["sh", "-c", f'exec "$@" {closing}', "sh", *command]
        with subprocess.Popen(
            command, stdin=given, stdout=subprocess.DEVNULL, stderr=said, cwd=folder
        ) as started:
            code = _polled(started, case.event)
        said.seek(0)
        stderr = said.read().decode("utf-8", "replace")
    return Ended(code, stderr, _left(folder), _most(case))


def _polled(started: subprocess.Popen[bytes], event: str) -> int | None:
    try:
        if event == "Ctrl-C":
            for patience in (1.5, 10.0, SECONDS):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return started.wait(patience)
                started.send_signal(signal.SIGINT)
        return started.wait(SECONDS)
    except subprocess.TimeoutExpired:
        started.kill()
        return None


def _most(case: Case) -> int:
    return max(1, len(case.arguments) - 1) if case.arguments[:1] == ["check"] else 1


def _left(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob(".*") if HALF.fullmatch(path.name)]


def warm() -> None:
    """Import what the commands import, so that children need not."""
    import gensim  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import torch
    import transformers  # noqa: F401

    torch.set_num_threads(1)
    for name in COMMANDS:
        __import__(f"regard.cli.{name}")


def run(given: argparse.Namespace, scratch: Path) -> int:
    pristine = scratch / "pristine"
    pristine.mkdir()
    generator = Generator(given.seed, make_files(pristine))
    cases = [generator.case(number) for number in range(given.cases)]
    if given.only is not None:
        cases = [cases[given.only]]
    ended: Counter[str] = Counter()
    by_command: Counter[str] = Counter()
    wrong: list[tuple[Case, Ended]] = []
    start = time.monotonic()
    for case in cases:
        folder = scratch / "work"
        shutil.copytree(pristine, folder, symlinks=True)
        done = (process if given.processes else forked)(case, folder)
        subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False) if os.getuid() else None
        shutil.rmtree(folder)
        by_command[case.arguments[0]] += 1
        ended[f"exit {done.code}"] += 1
        if given.only is not None:
            print(case, done.code, done.stderr, sep="\n")
        if done.problem:
            wrong.append((case, done))
            shown = " ".join(part[:60] for part in case.arguments)
            print(f"case {case.number}: {done.problem}: regard {shown!r} ({case.event})")
            print("    " + "\n    ".join(done.stderr.strip().splitlines()[-3:]), flush=True)
        if time.monotonic() - start > 60 * given.minutes:
            break
    _print_table(given, sum(by_command.values()), by_command, ended, wrong)
    return 1 if wrong else 0


def _print_table(
    given: argparse.Namespace,
    count: int,
    by_command: Counter[str],
    ended: Counter[str],
    wrong: list[tuple[Case, Ended]],
) -> None:
    how = "processes" if given.processes else "forked children"
    print(f"\n| {count:,} cases as {how}, seed {given.seed} | |\n|---|---:|")
    for name, number in sorted(by_command.items()):
        print(f"| regard {name} | {number:,} |")
    for name, number in sorted(ended.items()):
        print(f"| {name} | {number:,} |")
    problems = Counter(done.problem for _, done in wrong)
    print(f"| not orderly | {len(wrong)} |")
    for name, number in problems.most_common():
        print(f"| … {name} | {number} |")


def main_program() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=240, help="then no new case")
    parser.add_argument("--processes", action="store_true", help="not forked: each from the start")
    parser.add_argument("--only", type=int, help="this case of the seed alone")
    given = parser.parse_args()
    os.environ |= {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "OMP_NUM_THREADS": "1"}
    if not given.processes:
        warm()
    with tempfile.TemporaryDirectory(prefix="regard-badinput-") as scratch:
        return run(given, Path(scratch))


if __name__ == "__main__":
    sys.exit(main_program())
