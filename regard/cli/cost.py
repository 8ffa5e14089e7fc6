"""``regard cost``: time and memory of attention and recurrence as the text grows, measured."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from regard.cli.shared.output import write_json
from regard.errors import FileError, RegardError
from regard.text import visible


@click.command()
@click.option("--lengths", default="256,512,1024,2048,4096", show_default=True, help="n, rising.")
@click.option("--width", default=64, show_default=True, help="d, the width of a position.")
@click.option("--heads", default=1, show_default=True, help="Heads of the attention.")
@click.option("--window", default=64, show_default=True, help="Positions seen on each side.")
@click.option("--repeats", default=5, show_default=True, help="Rounds of timing.")
@click.option("--budget", default=10.0, show_default=True, help="Seconds; then no new round.")
@click.option("--threads", default=1, show_default=True, help="Threads of the CPU to use.")
@click.option("--json", "json_to", metavar="FILE", help="Write JSON; '-' prints it instead.")
@click.option("--png", metavar="FILE", help="Draw a picture.")
@click.option("--svg", metavar="FILE", help="Draw a picture; its text stays text.")
def cost(
    lengths: str,
    width: int,
    heads: int,
    window: int,
    repeats: int,
    budget: float,
    threads: int,
    json_to: str | None,
    png: str | None,
    svg: str | None,
) -> None:
    """What is the time and memory complexity of self-attention?

    Formulas for self-attention, windowed attention and recurrence, then what they take here as
    the text grows, with the power of n that fits it.
    """
    rising = read_lengths(lengths)
    pictures = [(kind, path) for kind, path in (("png", png), ("svg", svg)) if path]
    files = [path for path in (json_to, png, svg) if path and path != "-"]
    check_folders(files)

    from regard.cost import Setting, measure
    from regard.cost.picture import check_picture, save_picture
    from regard.cost.text import format_costs
    from regard.views.terminal.console import make_console

    if pictures:
        check_picture()
    setting = Setting(width=width, heads=heads, window=window)
    with shown_progress() as progress:
        costs = measure(
            rising, setting, repeats=repeats, budget=budget, threads=threads, progress=progress
        )
    if json_to != "-":
        make_console().print(format_costs(costs), soft_wrap=True)
    if json_to:
        write_json(json.dumps(costs.to_json(), indent=2, allow_nan=False), json_to)
    for kind, path in pictures:
        save_picture(costs, path, kind)
    if files:
        click.echo(f"Written: {', '.join(map(visible, files))}", err=json_to == "-")


def read_lengths(text: str) -> list[int]:
    """``256,512`` as numbers."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch("[0-9]{1,18}", part):
            raise RegardError(
                f"--lengths takes whole numbers with commas between, such as 256,512,1024; "
                f"got {part[:40]!r}"
            )
    return [int(part) for part in parts]


def check_folders(files: list[str]) -> None:
    """What can be known to be wrong with a file's name is said before the measuring."""
    for file in files:
        if not Path(file).absolute().parent.is_dir():
            raise FileError(f"cannot write {file!r}: its folder does not exist")


@contextmanager
def shown_progress() -> Iterator[Callable[[float, str], None]]:
    """A bar on a terminal; elsewhere a line for each part of the work. All on stderr."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield PlainProgress()
        return
    from rich.progress import BarColumn, Progress, TextColumn

    with Progress(
        TextColumn("measuring"),
        BarColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=what)


class PlainProgress:
    """``measuring memory, n = 256``: a line whenever something new begins."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, share: float, what: str) -> None:
        if what != self.last:
            self.last = what
            click.echo(f"measuring {what}", err=True)
