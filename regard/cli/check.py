"""``regard check``: the numbers of worked examples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.output import check_outputs, write_json
from regard.errors import RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.worked.check import Report
    from regard.worked.example import Example


@click.command()
@click.argument("files", nargs=-1)
@click.option("--list", "lists", is_flag=True, help="Name the examples that come with regard.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the result as JSON.")
@click.pass_context
def check(ctx: click.Context, files: tuple[str, ...], lists: bool, json_to: str | None) -> None:
    """Check the numbers claimed in worked examples: TOML or JSON FILES (- is standard input), or
    names of those that come with regard.

    Says which are wrong, what they should be and which step went wrong first. Exit code 0: all
    right; 1: some are wrong; 2: a file cannot be read. 'regard docs check' describes the format.

    \b
    regard check --list
    regard check tutorial-printed
    """
    if lists:
        _list()
        return
    if not files:
        raise RegardError("check takes a FILE or a name; 'regard check --list' has the names")
    check_outputs(json=json_to)
    if len(files) == 1:
        report = _checked(_read(files[0]))
        content: Any = report.to_dict()
        code = 0 if report.ok else 1
        if json_to != "-":
            _print(report)
    else:
        content, code = _check_all(files, quietly=json_to == "-")
    if json_to is not None:
        write_json(json.dumps(content), json_to)
    ctx.exit(code)


def _list() -> None:
    from regard.worked.source import ExampleFile, shipped

    names = shipped()
    for name, path in names.items():
        title = ExampleFile.read(path).content["title"]
        click.echo(f"{name:<{max(map(len, names)) + 2}}{title}")


def _check_all(files: tuple[str, ...], quietly: bool) -> tuple[list[dict[str, Any]], int]:
    """What came of each file, by its name, and the worst exit code; an error stops no other."""
    results, code = [], 0
    for file in files:
        try:
            report = _checked(_read(file))
        except RegardError as error:
            click.echo(f"regard: error: {visible(str(error))}", err=True)
            results.append({"file": file, "error": str(error)})
            code = 2
            continue
        code = max(code, 0 if report.ok else 1)
        results.append({"file": file, **report.to_dict()})
        if not quietly:
            click.echo(f"{file}:")
            _print(report)
            click.echo()
    return results, code


def _read(file: str) -> Example:
    """The example of a file, refused, if it must be, before torch is imported."""
    from regard.worked.example import Example

    return Example.load(file)


def _checked(example: Example) -> Report:
    from regard.worked.check import check as check_example

    return check_example(example)


def _print(report: Report) -> None:
    from regard.views.terminal.console import make_console
    from regard.worked.report import format_report

    make_console().print(format_report(report))
