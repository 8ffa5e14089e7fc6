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
    from regard.worked.check import Report, RunReport
    from regard.worked.code.faults import CodeReport
    from regard.worked.source import ExampleFile

    Result = Report | RunReport | CodeReport


@click.command()
@click.argument("files", nargs=-1)
@click.option("--list", "lists", is_flag=True, help="Name the examples that come with regard.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the result as JSON.")
@click.option("--new", metavar="MECHANISM", help="Print a new exercise of a mechanism.")
@click.option("--sheet", type=Whole(1), help="With --html: a sheet of N exercises.")
@click.option("--tokens", metavar="TEXT", help="New: its words.")
@click.option("--numbers", type=click.Choice(["round", "small"]), help="New: kind of numbers.")
@click.option("--blanks", is_flag=True, help="New: with blanks to fill in.")
@click.option("--solution", is_flag=True, help="New: with the solution.")
@click.option("--seed", type=Whole(0), help="New, sheet: other numbers.")
@click.option("--html", "html_to", metavar="FILE", help="Write a page of the example, or sheet.")
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
    regard check --new scaled --blanks > mine.toml
    """
    if lists:
        _list()
        return
    making = {name: how.pop(name) for name in MAKING}
    html_to = how.pop("html_to")
    if making["new"] is not None or making["sheet"] is not None:
        if files or json_to is not None:
            raise RegardError("--new and --sheet make exercises: they take no FILES and no --json")
        _make(**making, html_to=html_to)
        return
    for name, value in making.items():
        if value not in (None, False):
            raise RegardError(f"--{name} goes with --new or --sheet, which make exercises")
    if not files:
        raise RegardError("check takes a FILE or a name; 'regard check --list' has the names")
    check_outputs(*files, json=json_to, html=html_to)
    if html_to is not None and len(files) > 1:
        raise RegardError(f"--html writes the page of one example, got {len(files)} FILES")
    given = {name: value for name, value in how.items() if value}
    content, code = _check_all(files, given, html_to, quietly=json_to == "-")
    if json_to is not None:
        write_json(json.dumps(content), json_to)
    ctx.exit(code)


MAKING = ("new", "sheet", "tokens", "numbers", "blanks", "solution", "seed")
"""The options that make exercises."""


def _make(
    new: str | None,
    sheet: int | None,
    tokens: str | None,
    numbers: str | None,
    blanks: bool,
    solution: bool,
    seed: int | None,
    html_to: str | None,
) -> None:
    """Print a new exercise, or write a sheet of them and its solutions."""
    if sheet is None:
        if html_to is not None:
            raise RegardError("--html goes with --sheet: --new prints a file")
        if blanks and solution:
            raise RegardError("--blanks leaves claims empty and --solution fills them: give one")
        from regard.worked.exercises.new import new as made
        from regard.worked.exercises.new import text_of

        claims = "blanks" if blanks else "solution" if solution else "none"
        words = tokens.split() if tokens is not None else None
        content = made(new or "", words, numbers or "round", seed or 0)
        click.echo(text_of(content, claims), nl=False)
        return
    if html_to is None:
        raise RegardError("--sheet writes a page: add --html FILE")
    if tokens is not None or numbers is not None or blanks or solution:
        raise RegardError("--tokens, --numbers, --blanks and --solution go with --new alone")
    check_outputs(html=html_to)
    from regard.cli.shared.worked import write_sheet
    from regard.worked.exercises.sheet import exercises

    write_sheet(html_to, exercises(sheet, seed or 0, new))


def _list() -> None:
    from regard.worked.source import ExampleFile, shipped

    names = shipped()
    for name, path in names.items():
        title = ExampleFile.read(path).content["title"]
        click.echo(f"{name:<{max(map(len, names)) + 2}}{title}")


def _check_all(
    files: tuple[str, ...], how: dict[str, Any], html_to: str | None, quietly: bool
) -> tuple[Any, int]:
    """What came of each example, and the worst exit code; with several, an error stops no other.

    One file with one example is answered by itself, and may have a page.
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
            if html_to is not None:
                _write_page(html_to, report, quietly)
            return report.to_dict(), 0 if report.ok else 1
        if html_to is not None:
            raise RegardError(f"--html writes the page of one example; {file} has {len(checks)}")
        for name, run in checks:
            result, worse = _checked(name, run, quietly)
            results.append(result)
            code = max(code, worse)
    return results, code


def _checked(name: str, run: Callable[[], Result], quietly: bool) -> tuple[dict[str, Any], int]:
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


def _checks(file: str, how: dict[str, Any]) -> list[tuple[str, Callable[[], Result]]]:
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


def _check_example(source: ExampleFile) -> Report | RunReport:
    from regard.worked.runs import claimed

    claimed(source)  # what cannot be right is refused before torch is imported
    from regard.worked.check import check_file

    return check_file(source)


def _write_page(to: str, report: Result, quietly: bool) -> None:
    """Every step of a checked example, with numbers that can be changed."""
    from regard.cli.shared.worked import write_worked
    from regard.worked.check import Report, RunReport

    numbers = report.numbers if isinstance(report, RunReport) else report
    if not isinstance(numbers, Report):
        raise RegardError("--html shows the steps of a worked example, and here is none")
    write_worked(to, numbers.example, numbers.trace, numbers, [], None, quietly=quietly)


def _print(report: Result) -> None:
    from regard.views.terminal.console import make_console
    from regard.worked.check import Report, RunReport
    from regard.worked.code.report import format_code_report
    from regard.worked.report import format_report, format_runs

    console = make_console()
    if isinstance(report, Report):
        console.print(format_report(report))
    elif isinstance(report, RunReport):
        console.print(format_runs(report))
    else:
        console.print(format_code_report(report))
