"""``regard check``: the numbers of a worked example."""

from __future__ import annotations

import json

import click

from regard.cli.shared.output import check_folders, write_json
from regard.errors import RegardError


@click.command()
@click.argument("file", required=False)
@click.option("--list", "lists", is_flag=True, help="Name the examples that come with regard.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the result as JSON.")
@click.pass_context
def check(ctx: click.Context, file: str | None, lists: bool, json_to: str | None) -> None:
    """Check the numbers claimed in a worked example: a TOML FILE, or the name of one that comes
    with regard.

    Says which are wrong, what they should be and which step went wrong first. Exit code 0: all
    right; 1: some are wrong; 2: the file cannot be read. 'regard docs check' describes the format.

    \b
    regard check --list
    regard check tutorial-printed
    """
    from regard.worked.source import ExampleFile, shipped

    if lists:
        names = shipped()
        for name, path in names.items():
            click.echo(
                f"{name:<{max(map(len, names)) + 2}}{ExampleFile.read(path).content['title']}"
            )
        return
    if file is None:
        raise RegardError("check takes a FILE or a name; 'regard check --list' has the names")
    check_folders(json_to)
    source = ExampleFile.read(file)  # refused, if it must be, before torch is imported
    from regard.views.terminal.console import make_console
    from regard.worked.check import check as check_example
    from regard.worked.example import Example
    from regard.worked.report import format_report

    report = check_example(Example.from_file(source))
    if json_to is not None:
        write_json(json.dumps(report.to_dict()), json_to)
    if json_to != "-":
        make_console().print(format_report(report))
    ctx.exit(1 if report.wrong else 0)
