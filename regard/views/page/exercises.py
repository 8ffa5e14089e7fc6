"""Exercises: a page of them that checks what is typed into it, offline.

It holds what is given and not the solutions: it computes them again (``script/worked``).
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from regard.views.page.file import as_json
from regard.views.page.inline import fill, headed, read, script, source_hash

LEAD = (
    "Fill in the numbers and press Check: digits count as they are written (0.48 means within "
    "0.005), a fraction such as 4/7 will do. 0.6931 is ln 2. Nothing leaves this page."
)
SOLUTIONS = "What 'regard check' computes, to four digits."
SAVE = '<button id="save" class="screen">Save with my answers</button>'


def exercises_page(made: Sequence[dict[str, Any]], *, solutions: bool) -> str:
    """The page of ``[{"number", "title", "about", "given", "computed", "steps"}]``.

    The same exercises with their ``solutions`` are another page.
    """
    style = read("exercises.css")
    title = "Exercises: solutions" if solutions else "Exercises"
    rules = (
        f"default-src 'none'; script-src {source_hash(script('exercises'))}; "
        f"style-src {source_hash(style)}; base-uri 'none'"
    )
    known = {
        "TITLE": title,
        "LEAD": html.escape(SOLUTIONS if solutions else LEAD),
        "SOLUTIONS": "yes" if solutions else "no",
        "SAVE": "" if solutions else SAVE,
        "EXERCISES": as_json(list(made)),
        "SCRIPT": script("exercises"),
    }
    body = fill("exercises.html", known)
    return headed(body, title=title, rules=rules, style=style, generator="regard sheet")
