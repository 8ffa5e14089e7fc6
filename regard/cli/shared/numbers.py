"""Numbers on the command line, refused in words that name what is wanted."""

from __future__ import annotations

import click


class Whole(click.IntRange):
    """A whole number in a range; click calls it an integer range, which nobody can type."""

    name = "whole number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "N"


class Real(click.FloatRange):
    """A number in a range."""

    name = "number"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "X"
