"""File: subjects as one HTML file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from regard.errors import RegardError
from regard.files import write_text
from regard.pieces.sheet import Subject
from regard.views.page.data import subject_data
from regard.views.page.inline import fill, headed, policy, style, whole_script
from regard.views.page.pack import EXACT, Pack, checksum

FORMAT = 1
"""Of the data in a page; the page's own script is the only reader of it."""


def save_html(
    path: str | os.PathLike[str], *subjects: Subject, title: str = "", below: str = ""
) -> None:
    """Write a page that shows ``subjects``, atomically; ``below`` them a worked example."""
    write_text(path, page_html(*subjects, title=title, below=below))


def page_html(*subjects: Subject, title: str = "", below: str = "") -> str:
    """The page as text: one file, nothing in it is fetched from anywhere."""
    if not any(subject.sheets for subject in subjects):
        raise RegardError(
            "a page shows attention, and there is none: no step of the trace has weights, or "
            "nothing was observed"
        )
    content, packed = document(subjects)
    first = "example" if below else "page"
    shown = title or subjects[0].title
    return filled(shown, content, packed, policy(first), first, below=below)


def document(subjects: Sequence[Subject]) -> tuple[dict[str, Any], str]:
    """The page's data: what is known as JSON, and the arrays as text."""
    pack = Pack(half=sum(subject.numbers for subject in subjects) > EXACT)
    parts = [subject_data(subject, pack) for subject in subjects]
    packed = pack.text()
    return {
        "format": FORMAT,
        "regard": import_module("regard").__version__,
        "half": pack.half,
        "sha256": checksum(packed),
        "arrays": pack.entries,
        "subjects": parts,
    }, packed


def filled(
    title: str,
    content: dict[str, Any],
    packed: str,
    rules: str,
    first: str = "page",
    worker: str = "",
    below: str = "",
) -> str:
    """The shell with everything in its place. Text is data: it cannot end the script it is in."""
    known = {
        "SCRIPT": whole_script(first, worker),
        "DATA": as_json(content),
        "PACKED": packed,
        "BELOW": below,
    }
    body = fill("page.html", known)
    return headed(body, title=visible_title(title), rules=rules, style=style(first))


def as_json(content: Any) -> str:
    """JSON in ASCII without <: no token can close the element, and lone surrogates survive."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def visible_title(title: str) -> str:
    """A title in UTF-8: a lone surrogate shows as its escape."""
    return title[:200].encode("utf-8", "backslashreplace").decode()
