"""Prose: Markdown as HTML, its formulas as MathML. No HTML in it is let through."""

from __future__ import annotations

import functools
import re

from markdown_it import MarkdownIt

from regard.views.formula import FORMULA, mathml

HOLD, RELEASE = "\ue000", "\ue001"
"""Around the number of a formula while the rest becomes HTML; private signs, in no text."""


@functools.cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def prose_html(text: str) -> str:
    """The HTML of a piece of Markdown."""
    formulas: list[str] = []

    def held(found: re.Match[str]) -> str:
        formulas.append(mathml(found[1] or found[2], display=found[1] is not None))
        return f"{HOLD}{len(formulas) - 1}{RELEASE}"

    code = re.split(r"(^```.*?^```|`[^`\n]+`)", text, flags=re.MULTILINE | re.DOTALL)
    shown = "".join(part if i % 2 else FORMULA.sub(held, part) for i, part in enumerate(code))
    made = str(_renderer().render(shown))
    made = made.replace("<table>", '<div class="wide"><table>').replace(
        "</table>", "</table></div>"
    )
    return re.sub(f"{HOLD}(\\d+){RELEASE}", lambda found: formulas[int(found[1])], made)
