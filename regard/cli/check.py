"""``regard check``: the numbers of worked examples, and somebody's own code."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import click

from regard.cli.shared.numbers import Real, Whole
from regard.cli.shared.output import check_outputs, write_json
from regard.errors import RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.worked.check import Report
    from regard.worked.code.faults import CodeReport
    from regard.worked.source import ExampleFile


@click.command()
@click.argument("files", nargs=-1)
@click.option("--list", "lists", is_flag=True, help="Name the examples that come with regard.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--mechanism", metavar="NAME", help="Code: what it is to compute, such as scaled.")
@click.option("--causal", is_flag=True, help="Code: it makes the causal mask itself.")
@click.option("--axes", type=Whole(2, 4), help="Code: it is meant for so many axes alone.")
@click.option("--seconds", type=Real(0.1), help="Code: how long one call may take [10].")
@click.pass_context
def check(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    lists: bool,
    json_to: str | None,
    **how: Any,
) -> None:
    """Check the numbers claimed in worked examples: FILES of TOML, JSON, NumPy (npz) or markdown
    (- is standard input), or names of those that come with regard. Or check your own code:
    FILE.py:FUNCTION.

    Says which are wrong, what they should be and which step went wrong first. Exit code 0: all
    right; 1: some are wrong; 2: a file cannot be read. 'regard docs check' describes the format.

    \b
    regard check --list
    regard check tutorial-printed
    regard check mine.py:attention --mechanism scaled
    """
    if lists:
        _list()
        return
    if not files:
        raise RegardError("check takes a FILE or a name; 'regard check --list' has the names")
    check_outputs(json=json_to)
    given = {name: value for name, value in how.items() if value}
    content, code = _check_all(files, given, quietly=json_to == "-")
    if json_to is not None:
        write_json(json.dumps(content), json_to)
    ctx.exit(code)


def _list() -> None:
    from regard.worked.source import ExampleFile, shipped

    names = shipped()
    for name, path in names.items():
        title = ExampleFile.read(path).content["title"]
        click.echo(f"{name:<{max(map(len, names)) + 2}}{title}")


def _check_all(files: tuple[str, ...], how: dict[str, Any], quietly: bool) -> tuple[Any, int]:
    """What came of each example, and the worst exit code; with several, an error stops no other.

    One file with one example is answered by itself.
    """
    results: list[dict[str, Any]] = []
    code = 0
    for file in files:
        try:
            checks = _checks(file, how)
        except RegardError as error:
            if len(files) == 1:
                raise
            checks = [(file, partial(_raise, error))]
        if len(files) == len(checks) == 1 and checks[0][0] == file:
            report = checks[0][1]()
            if not quietly:
                _print(report)
            return report.to_dict(), 0 if report.ok else 1
        for name, run in checks:
            result, worse = _checked(name, run, quietly)
            results.append(result)
            code = max(code, worse)
    return results, code


def _checked(
    name: str, run: Callable[[], Report | CodeReport], quietly: bool
) -> tuple[dict[str, Any], int]:
    """One of several: its result with its name, and its exit code."""
    try:
        report = run()
    except RegardError as error:
        click.echo(f"regard: error: {visible(str(error))}", err=True)
        return {"file": name, "error": str(error)}, 2
    if not quietly:
        click.echo(f"{name}:")
        _print(report)
        click.echo()
    return {"file": name, **report.to_dict()}, 0 if report.ok else 1


def _raise(error: RegardError) -> NoReturn:
    raise error


def _checks(file: str, how: dict[str, Any]) -> list[tuple[str, Callable[[], Report | CodeReport]]]:
    """What is to be checked in a file, by name, refused, if it must be, before torch is
    imported."""
    from regard.worked.code.load import names_code

    if names_code(file):
        if "mechanism" not in how:
            raise RegardError(f"say what {file} is to compute, such as --mechanism scaled")
        return [(file, partial(_check_code, file, how))]
    for option in how:
        raise RegardError(f"--{option} goes with code, FILE.py:FUNCTION, and {file} is an example")
    from regard.worked.formats import read_examples

    return [
        (source.place or file, partial(_check_example, source)) for source in read_examples(file)
    ]


def _check_code(file: str, how: dict[str, Any]) -> CodeReport:
    from regard.worked.code.judge import SECONDS, judge
    from regard.worked.code.load import load

    return judge(load(file, how.get("seconds", SECONDS)), **how)


def _check_example(source: ExampleFile) -> Report:
    from regard.worked.claims import check_written
    from regard.worked.example import Example

    example = Example.from_file(source)
    check_written(example)
    from regard.worked.check import check_example

    return check_example(example)


def _print(report: Report | CodeReport) -> None:
    from regard.views.terminal.console import make_console
    from regard.worked.check import Report
    from regard.worked.code.report import format_code_report
    from regard.worked.report import format_report

    console = make_console()
    console.print(
        format_report(report) if isinstance(report, Report) else format_code_report(report)
    )
