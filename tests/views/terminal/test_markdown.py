"""Markdown on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from regard.views.terminal.markdown import print_block, print_markdown


def printed(text: str, width: int = 40) -> str:
    out = io.StringIO()
    print_markdown(text, Console(file=out, width=width))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_prose_is_broken_and_blocks_are_not() -> None:
    text = f"One *two* **three** `four`, {'word ' * 12}.\n\n```toml\n{'x' * 60}\n```\n\n- item\n"
    lines = printed(text).splitlines()
    assert lines[0] == "One two three four, word word word word"
    assert "  " + "x" * 60 in lines
    assert " • item" in lines


def test_formulas_and_links() -> None:
    text = "The root $\\sqrt{d_k}$ in [a page](x.md), costs $5.\n\n$$c_i = \\sum_{j} a_{ij}$$\n"
    assert printed(text, 80) == ("The root √d_k in a page, costs $5.\n\n  c_i = ∑_j a_ij\n")


def test_a_block_keeps_its_lines() -> None:
    out = io.StringIO()
    print_block("a\n\nb\n", Console(file=out, width=20), indent=1)
    assert out.getvalue() == " a\n\n b\n\n"
