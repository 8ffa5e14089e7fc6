"""Inline: the page's ES modules as one script, its style, and the policy that allows only those.

A module here imports with ``import { a, b } from "./x.js";`` (or from a folder beside it) and
exports by the word ``export`` in front of a declaration, nothing else, and no two need each other.
So each becomes a function that is called at once, after those that it needs, and gives its exports:
the same program in one script.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Mapping
from importlib import resources

IMPORT = re.compile(
    r'^import (\{[^}]*\}) from "\.{1,2}/(?:[a-z]+/)?([a-z0-9]+)\.js";\n', re.MULTILINE
)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) +(\w+))", re.MULTILINE)
FOLDERS = ("script", "script/network", "script/worked")
"""Where modules are: what runs a model, and what computes a worked example, have their own."""
TYPES = re.compile(r"^/\*\* @import .*\*/\n", re.MULTILINE)


def read(name: str) -> str:
    return (resources.files("regard.views.page") / name).read_text(encoding="utf-8")


def fill(name: str, known: Mapping[str, str]) -> str:
    """A shell with what is known in its places, each of which is ``@@NAME@@``."""
    parts = read(name).split("@@")  # text, name, text, …; what is filled in is not split
    return "".join(known[part] if i % 2 else part for i, part in enumerate(parts))


def headed(
    body: str,
    *,
    title: str,
    rules: str,
    style: str,
    language: str = "en",
    generator: str = "regard",
) -> str:
    """A whole page: the head that all pages share, with the policy ``rules``, before its body."""
    known = {
        "LANGUAGE": language,
        "POLICY": html.escape(rules),
        "GENERATOR": generator,
        "TITLE": html.escape(title),
        "STYLE": style,
    }
    return fill("head.html", known) + body


@functools.cache
def script(first: str = "page") -> str:
    """A module and all that it needs, in the order in which they need each other."""
    done: dict[str, str] = {}

    def add(name: str, needed_by: tuple[str, ...] = ()) -> None:
        if name in needed_by:
            raise ValueError(f"modules need each other: {' > '.join((*needed_by, name))}")
        if name in done:
            return
        source = _source(name)
        for _, other in IMPORT.findall(source):
            add(other, (*needed_by, name))
        done[name] = _called(name, source)

    add(first)
    return "".join(done.values())


def _source(name: str) -> str:
    """A module's text; no two have one name, whichever folder they are in."""
    for folder in FOLDERS:
        if (resources.files("regard.views.page") / folder / f"{name}.js").is_file():
            return read(f"{folder}/{name}.js")
    raise FileNotFoundError(f"the page's script has no module {name}.js")


def _called(name: str, source: str) -> str:
    """A module as a function that is called at once and gives what the module exports."""
    exports = ", ".join(EXPORT.findall(source))
    body = TYPES.sub("", EXPORT.sub("", IMPORT.sub(r"const \1 = of_\2;\n", source)))
    return f"const of_{name} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


@functools.cache
def style(first: str = "page") -> str:
    """The style of the views, and what a page that begins with ``first`` adds to it."""
    own = f"{first}.css"
    there = first != "page" and (resources.files("regard.views.page") / own).is_file()
    return read("page.css") + (read(own) if there else "")


@functools.cache
def whole_script(first: str, worker: str = "") -> str:
    """A page's script; before it, as text, that of the worker which it starts."""
    if not worker:
        return script(first)
    text = json.dumps(script(worker)).replace("<", "\\u003c")
    return f"const WORKER = {text};\n{script(first)}"


def policy(first: str = "page", *, connect: str = "'none'", worker: str = "") -> str:
    """The Content-Security-Policy: this script, this style, pictures made here, nothing else.

    A page with a ``worker`` may start one from text that its own script holds.
    """
    digest = source_hash(whole_script(first, worker))
    workers = " worker-src blob:;" if worker else ""
    return (
        f"default-src 'none'; script-src {digest}; "
        f"style-src {source_hash(style(first))};{workers} "
        f"img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def source_hash(text: str) -> str:
    """What a policy calls a script or style that stands in the page."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
