"""Claims about runs: what may be run, how it is looked up, what is said."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import regard
from regard.cli import COMMANDS
from regard.errors import RegardError
from regard.worked.check import check_file
from regard.worked.formats import read_example
from regard.worked.runs import OPTIONS, RunClaim, check_runs, claims_of_runs, pointed

COST = "cost --lengths 16,32 --repeats 1 --budget 1"


def claim(**changed: Any) -> dict[str, Any]:
    return {"from": COST, "path": "/lengths/1", "value": 32, **changed}


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("check tutorial-printed", "from may begin with cost, explain, look"),
        ("train lm --text x", "got 'train'"),
        ("cost; rm -rf .", "got 'cost;'"),
        ("", "got ''"),
        ("cost 'a", "No closing quotation"),
        ("cost --json out.json", "'--json' is not allowed in a claim about 'regard cost'"),
        ("cost --lengths= --json out.json", "'--json' is not allowed"),
        ("cost --lengths --png=x.png", "--lengths takes 1 word, no option"),
        ("explain --word= --html x.html a", "'--html' is not allowed"),
        ("translate --file=/etc/passwd", "'--file' is not allowed"),
        ("look minilm text -- --html x", "'--' is not allowed"),
        ("look ../model text", "no path or address: got '../model'"),
        ("heads owner/model text", "no path or address: got 'owner/model'"),
        ("explain --example ./mine.toml", "no path or address"),
        ("translate --model=/tmp/run hallo", "no path or address"),
        ("look minilm - --word x", "'-' is not allowed"),
        ("heads minilm text --link=a b", "--link takes 2 words"),
    ],
)
def test_what_is_not_run(command: str, says: str) -> None:
    with pytest.raises(RegardError) as error:
        claims_of_runs({"run": [claim(**{"from": command})]})
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"form": "cost"}, "unknown key 'form' in [[claims.run]]; did you mean 'from'?"),
        ({"from": "cost", "path": "/a"}, "value is missing"),
        (claim(path="lengths"), "path must begin with / (a JSON Pointer), got 'lengths'"),
        (claim(value=[1]), "value must be a number, got a list"),
        (claim(tolerance=-1), "tolerance must be 0 or more, got -1"),
        (claim(path=3), "must be texts"),
    ],
)
def test_what_is_no_claim(table: dict[str, Any], says: str) -> None:
    with pytest.raises(RegardError) as error:
        claims_of_runs({"run": [table]})
    assert says in str(error.value)
    with pytest.raises(RegardError, match="must be tables"):
        claims_of_runs({"run": table})


@pytest.mark.parametrize("name", sorted(OPTIONS.keys() & COMMANDS.keys()))
def test_what_is_allowed_exists_and_takes_no_file(name: str) -> None:
    command = getattr(import_module(f"regard.cli.{name}"), name)
    options = {option: p for p in command.params for option in p.opts}
    for option, words in OPTIONS[name].items():
        assert options[option].nargs == (words or 1)
        assert options[option].is_flag == (words == 0)
        if option != "--example":
            assert "FILE" not in str(options[option].metavar)


def test_values_are_compared_as_they_are_written() -> None:
    def holds(value: Any, got: Any, tolerance: float = 0.0) -> bool:
        return RunClaim("", (), "", value, tolerance).holds(got)

    assert holds(0.5, 0.54, 0.05)
    assert not holds(0.5, 0.56, 0.05)
    assert holds("I", "I")
    assert not holds("1", 1)
    assert not holds(True, 1)
    assert not holds(1, None, 9)


def test_a_run_is_looked_up_and_runs_once() -> None:
    averages = {"from": "explain --example averages"}
    claims = claims_of_runs(
        {
            "run": [
                claim(**averages, path="/tokens/1", value="2"),
                claim(**averages, path="/steps/0/value/0/0", value=1),
                claim(**averages, path="/mechanism", value="dot"),
            ]
        }
    )
    results = check_runs(claims)
    assert [result.right for result in results] == [True, False, True]
    assert results[1].to_dict() == {
        "run": "explain --example averages",
        "path": "/steps/0/value/0/0",
        "claimed": 1.0,
        "correct": 2.0,
    }


def test_a_pointer() -> None:
    content = {"a/b": [{"~": 5}], "n": 3}
    given = {"from": "cost", "value": 5}
    (there, beyond, deeper) = claims_of_runs(
        {"run": [{**given, "path": path} for path in ("/a~1b/0/~0", "/a~1b/7", "/n/x")]}
    )
    assert pointed(content, there) == 5
    with pytest.raises(RegardError, match=r"leads to nothing.*there is no '7', there is 1 item"):
        pointed(content, beyond)
    with pytest.raises(RegardError, match=r"there is no 'x', there is 3"):
        pointed(content, deeper)


def test_a_run_that_fails_or_takes_too_long() -> None:
    with pytest.raises(RegardError, match="failed: --lengths takes whole numbers"):
        check_runs(claims_of_runs({"run": [claim(**{"from": "cost --lengths x"})]}))
    started = time.monotonic()
    with pytest.raises(RegardError, match=r"took longer than 0\.05 seconds"):
        check_runs(claims_of_runs({"run": [claim()]}), seconds=0.05)
    assert time.monotonic() - started < 10


def test_a_file_with_numbers_and_runs(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    file.write_text(
        "scores = [[1, 1]]\n[claims]\nweights = [[0.5, 0.4]]\n"
        '[[claims.run]]\nfrom = "explain --example averages"\npath = "/mechanism"\nvalue = "dot"\n'
        '[[claims.run]]\nfrom = "explain --example averages"\npath = "/tokens/2"\nvalue = "4"\n'
    )
    with pytest.raises(RegardError, match="are checked by the command"):
        regard.check(file)
    result = check_file(read_example(file))
    assert result.right == 2
    assert [type(one).__name__ for one in result.wrong] == ["Wrong", "RunResult"]
    assert not result.ok
    file.write_text(file.read_text().replace("explain", "shout"))
    with pytest.raises(RegardError, match="got 'shout'"):
        regard.check(file)
