"""Markdown on a terminal: prose as wide as it is, formulas as text, blocks as they stand."""

from __future__ import annotations

import re

from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from regard.views.formula import FORMULA, plain_formula

WIDEST = 88
"""Columns of prose: longer lines are hard to read."""
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
"""A link to another file leads nowhere on a terminal: its text stays."""
FENCED = re.compile(r"^```[^\n]*\n(.*?)^```[ ]*$\n?", re.MULTILINE | re.DOTALL)


def print_markdown(text: str, console: Console) -> None:
    """Paragraphs, lists, tables and emphasis; what stands between ``` is printed as it is."""
    for i, part in enumerate(FENCED.split(text)):
        if i % 2:
            print_block(part, console)
        elif part.strip():
            _print_prose(part, console)


def print_block(text: str, console: Console, style: str = "", indent: int = 2) -> None:
    """Lines that are not to be broken: a drawing, code, what a command printed."""
    lines = (" " * indent + line if line else "" for line in text.rstrip("\n").split("\n"))
    console.print(Text("\n".join(lines), style=style), soft_wrap=True)
    console.print()


def _print_prose(text: str, console: Console) -> None:
    for i, part in enumerate(re.split(r"\$\$(.+?)\$\$", text, flags=re.DOTALL)):
        if i % 2:
            print_block(plain_formula(part), console, style="bold")
        elif part.strip():
            console.print(Markdown(with_plain_formulas(part)), width=min(console.width, WIDEST))
            console.print()


def with_plain_formulas(text: str) -> str:
    """Formulas as text between stars, and links without their addresses."""
    shown = FORMULA.sub(lambda found: f"`{plain_formula(found[1] or found[2])}`", text)
    return LINK.sub(r"\1", shown)
