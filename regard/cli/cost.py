"""``regard cost``: time and memory of attention and recurrence as the text grows, measured."""

from __future__ import annotations

import json
import re
from typing import Any

import click

from regard.cli.shared.numbers import Real, Whole
from regard.cli.shared.output import check_outputs, say_written, write_json
from regard.cli.shared.progress import CommandProgress, changes
from regard.errors import RegardError

SMALL = Whole(max=1_000_000)
"""Larger numbers than anybody measures with, and small enough to compute with."""


@click.command()
@click.option("--lengths", default="256,512,1024,2048,4096", show_default=True, help="n, rising.")
@click.option(
    "--width", type=SMALL, default=64, show_default=True, help="d, the width of a position."
)
@click.option("--heads", type=SMALL, default=1, show_default=True, help="Heads of the attention.")
@click.option(
    "--window", type=SMALL, default=64, show_default=True, help="Positions seen on each side."
)
@click.option("--repeats", type=SMALL, default=5, show_default=True, help="Rounds of timing.")
@click.option(
    "--budget", type=Real(), default=10.0, show_default=True, help="Seconds; then no new round."
)
@click.option(
    "--threads", type=SMALL, default=1, show_default=True, help="Threads of the CPU to use."
)
@click.option("--json", "json_to", metavar="FILE", help="Write JSON; '-' prints it instead.")
@click.option("--png", metavar="FILE", help="Draw a picture.")
@click.option("--svg", metavar="FILE", help="Draw a picture; its text stays text.")
def cost(
    lengths: str,
    width: int,
    heads: int,
    window: int,
    json_to: str | None,
    png: str | None,
    svg: str | None,
    **effort: Any,
) -> None:
    """What is the time and memory complexity of self-attention?

    Formulas for self-attention, windowed attention and recurrence, then what they take here as
    the text grows, with the power of n that fits it.
    """
    rising = read_lengths(lengths)
    pictures = [(kind, path) for kind, path in (("png", png), ("svg", svg)) if path]
    check_outputs(json=json_to, png=png, svg=svg)
    if pictures:
        from regard.views.picture.file import check_picture

        check_picture()
    from regard.cost.room import check_run
    from regard.cost.setting import Setting

    setting = Setting(width=width, heads=heads, window=window)
    check_run(rising, setting, **effort)  # before torch is imported
    from regard.cost.measurement import measure
    from regard.cost.report import format_costs
    from regard.views.terminal.console import make_console

    with CommandProgress("measuring", changes("measuring")) as progress:
        costs = measure(rising, setting, **effort, progress=progress)
    if json_to != "-":
        make_console().print(format_costs(costs), soft_wrap=True)
    if json_to:
        write_json(json.dumps(costs.to_json(), indent=2, allow_nan=False), json_to)
    for kind, path in pictures:
        from regard.cost.picture import draw_costs
        from regard.views.picture.file import save_figure

        save_figure(lambda: draw_costs(costs), path, kind, 11)
    say_written(json_to, png, svg, quietly=json_to == "-")


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
