"""Runs: what a text claims of a measurement, checked by running one of regard's own commands.

    [[claims.run]]
    from = "cost --lengths 256,512"    # a command that reads and prints; --json - is added
    path = "/rows/0/n"                 # a JSON Pointer (RFC 6901) into what it gives
    value = 256
    tolerance = 0                      # optional

A file may come from a stranger: only the commands and options below are run, none of which writes
or takes a file, in an empty folder, without a shell, without the network, for a limited time.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from regard.errors import ExampleError, nearest
from regard.text import number_of
from regard.worked.claims import allowance, check_written
from regard.worked.example import Example
from regard.worked.fields import finite, shown, wrong
from regard.worked.source import ExampleFile

SECONDS = 120
"""How long one command may take."""
OPTIONS: dict[str, dict[str, int]] = {
    "cost": dict.fromkeys(
        ("--lengths", "--width", "--heads", "--window", "--repeats", "--budget", "--threads"), 1
    ),
    "explain": {
        **dict.fromkeys(("--word", "--head", "--model", "--layer", "--to", "--example"), 1),
        "--all": 0,
    },
    "look": {
        **dict.fromkeys(("--word", "--layer", "--head", "--part", "--target", "--top"), 1),
        **dict.fromkeys(("--words", "--no-sink"), 0),
        "--max-tokens": 1,
    },
    "heads": {
        **dict.fromkeys(("--kind", "--part", "--target", "--max-tokens", "--top"), 1),
        "--link": 2,
    },
    "ablate": {
        **dict.fromkeys(("--head", "--layer", "--word", "--each", "--part", "--target"), 1),
        **dict.fromkeys(("--metric", "--seed", "--max-tokens", "--top"), 1),
        **{"--link": 2, "--estimate": 0},
    },
    "translate": {
        **dict.fromkeys(("--model", "--beam", "--length-penalty", "--layer", "--head"), 1),
        **dict.fromkeys(("--alignment", "--pieces"), 0),
    },
    "evaluate": dict.fromkeys(("--beam", "--length-penalty", "--show"), 1),
}
"""The commands that may be run, their options, and how many words follow each."""
NAMED = ("--model", "--example")
"""Options whose word must be a name of regard's own, and no path."""
MODEL_FIRST = ("look", "heads", "ablate", "evaluate")
NAME = re.compile(r"[A-Za-z0-9][\w+-]*")
KEYS = ("from", "path", "value", "tolerance")


@dataclass(frozen=True)
class RunClaim:
    """One claim about what a command gives."""

    command: str
    words: tuple[str, ...]
    path: str
    value: Any
    tolerance: float

    def holds(self, got: Any) -> bool:
        """Whether what was found is what is claimed."""
        if isinstance(self.value, str | bool) or isinstance(got, str | bool):
            return type(got) is type(self.value) and bool(got == self.value)
        if not isinstance(got, int | float):
            return False
        return abs(float(got) - float(self.value)) <= self.tolerance


@dataclass(frozen=True)
class RunResult:
    """A claim and what the command gave."""

    claim: RunClaim
    got: Any

    @property
    def right(self) -> bool:
        return self.claim.holds(self.got)

    def to_dict(self) -> dict[str, Any]:
        claimed = self.claim.value
        return {
            "run": self.claim.command,
            "path": self.claim.path,
            "claimed": claimed if isinstance(claimed, str | bool) else float(claimed),
            "correct": self.got,
        }


def claimed(source: ExampleFile) -> tuple[Example | None, list[RunClaim]]:
    """What a file claims of numbers, if anything, and of runs; refused if it cannot be right."""
    claims = source.content.get("claims")
    if not isinstance(claims, dict) or "run" not in claims:
        example = Example.from_file(source)
        check_written(example)
        return example, []
    try:
        runs = claims_of_runs(claims)
    except ExampleError as error:
        raise source.located(error) from error
    others = {key: value for key, value in claims.items() if key != "run"}
    if not others:
        return None, runs
    rest = replace(source, content={**source.content, "claims": others})
    return claimed(rest)[0], runs


def claims_of_runs(claims: Mapping[str, Any]) -> list[RunClaim]:
    """The claims under ``run``, each checked to be safe; nothing is run."""
    given = claims.get("run", [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise wrong("run", "claims.run must be tables: [[claims.run]] with from, path and value")
    return [_claim(one) for one in given]


def check_runs(claims: list[RunClaim], seconds: float = SECONDS) -> list[RunResult]:
    """Run each command once and look up what is claimed of it."""
    given: dict[tuple[str, ...], Any] = {}
    results = []
    for claim in claims:
        if claim.words not in given:
            given[claim.words] = _ran(claim, seconds)
        results.append(RunResult(claim, pointed(given[claim.words], claim)))
    return results


def _claim(one: dict[str, Any]) -> RunClaim:
    for key in one:
        if key not in KEYS:
            raise wrong("run", f"unknown key {shown(key)} in [[claims.run]]{nearest(key, KEYS)}")
    for key in KEYS[:3]:
        if key not in one:
            raise wrong("run", f"[[claims.run]] needs from, path and value; {key} is missing")
    command, path, value = one["from"], one["path"], one["value"]
    if not isinstance(command, str) or not isinstance(path, str):
        raise wrong("run", 'from and path of [[claims.run]] must be texts, such as "/rows/0/n"')
    if path and not path.startswith("/"):
        raise wrong("run", f"path must begin with / (a JSON Pointer), got {shown(path)}")
    if isinstance(value, str | bool):
        return RunClaim(command, _words(command), path, value, 0.0)
    finite("run", value, "value")
    if "tolerance" in one:
        off = finite("run", one["tolerance"], "tolerance")
        if off < 0:
            raise wrong("run", f"tolerance must be 0 or more, got {shown(one['tolerance'])}")
    else:
        off = allowance(value)
    return RunClaim(command, _words(command), path, value, off)


def _words(command: str) -> tuple[str, ...]:
    """The words of a command that is allowed."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise wrong("run", f"from = {shown(command)} cannot be read: {error}") from error
    words = words[1:] if words[:1] == ["regard"] else words
    if not words or words[0] not in OPTIONS:
        raise wrong(
            "run",
            f"from may begin with {', '.join(OPTIONS)} (commands that only read and print), "
            f"got {shown(words[0] if words else '')}",
        )
    _check_options(words[0], words[1:])
    return tuple(words)


def _check_options(name: str, rest: list[str]) -> None:
    """Raise for an option that is not known to be harmless. A word that begins with a dash is
    never anything but an option here, so that click can read it no other way."""
    plain: list[str] = []
    while rest:
        option, joined, value = rest.pop(0).partition("=")
        if not option.startswith("-"):
            plain.append(option)
            continue
        if option not in OPTIONS[name]:
            raise wrong(
                "run",
                f"{shown(option)} is not allowed in a claim about 'regard {name}'; allowed: "
                f"{', '.join(OPTIONS[name])}",
            )
        values = [value] if joined else rest[: OPTIONS[name][option]]
        if len(values) != OPTIONS[name][option] or any(v.startswith("-") for v in values):
            raise wrong(
                "run", f"{option} takes {number_of(OPTIONS[name][option], 'word')}, no option"
            )
        if not joined:
            del rest[: OPTIONS[name][option]]
        if option in NAMED:
            _check_name(values)
    if name in MODEL_FIRST:
        _check_name(plain[:1])


def _check_name(values: list[str]) -> None:
    for value in values:
        if not NAME.fullmatch(value):
            raise wrong(
                "run",
                "a claim about a run names a model or example of regard's, no path or address: "
                f"got {shown(value)}",
            )


def _ran(claim: RunClaim, seconds: float) -> Any:
    """What the command gives as JSON, in a process of its own in an empty folder."""
    command = [sys.executable, "-m", "regard", *claim.words, "--json", "-"]
    offline = {"PIP_NO_INDEX": "1", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    with tempfile.TemporaryDirectory(prefix="regard-") as folder:
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                cwd=folder,
                env={**os.environ, **offline},
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise wrong(
                "run", f"'regard {claim.command}' took longer than {seconds:g} seconds"
            ) from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise wrong(
            "run", f"'regard {claim.command}' failed: {said.removeprefix('regard: error: ')}"
        )
    lines = done.stdout.strip().splitlines()
    try:
        return json.loads(done.stdout) if len(lines) == 1 else [json.loads(line) for line in lines]
    except ValueError:
        return json.loads(done.stdout)


def pointed(content: Any, claim: RunClaim) -> Any:
    """What the JSON Pointer leads to."""
    found = content
    for part in claim.path.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise _nowhere(claim, key, found)
    return found


def _nowhere(claim: RunClaim, key: str, at: Any) -> ExampleError:
    has = ", ".join(at) if isinstance(at, dict) else shown(at)
    if isinstance(at, list):
        has = number_of(len(at), "item")
    return wrong(
        "run",
        f"path {shown(claim.path)} leads to nothing in what 'regard {claim.command}' gives: there "
        f"is no {shown(key)}, there is {has[:200]}",
    )
