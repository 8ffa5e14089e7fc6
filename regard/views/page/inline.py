"""Inline: the page's ES modules as one script, its style, and the policy that allows only those.

A module here imports with ``import { a, b } from "./x.js";`` and exports by the word ``export`` in
front of a declaration, nothing else, and no two need each other. So each becomes a function that is
called at once, after those that it needs, and gives its exports: the same program in one script.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib import resources

IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./([a-z0-9]+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) +(\w+))", re.MULTILINE)
TYPES = re.compile(r"^/\*\* @import .*\*/\n", re.MULTILINE)


def read(name: str) -> str:
    return (resources.files("regard.views.page") / name).read_text(encoding="utf-8")


@functools.cache
def script(first: str = "page") -> str:
    """A module and all that it needs, in the order in which they need each other."""
    done: dict[str, str] = {}

    def add(name: str, needed_by: tuple[str, ...] = ()) -> None:
        if name in needed_by:
            raise ValueError(f"modules need each other: {' > '.join((*needed_by, name))}")
        if name in done:
            return
        source = read(f"script/{name}.js")
        for _, other in IMPORT.findall(source):
            add(other, (*needed_by, name))
        done[name] = _called(name, source)

    add(first)
    return "".join(done.values())


def _called(name: str, source: str) -> str:
    """A module as a function that is called at once and gives what the module exports."""
    exports = ", ".join(EXPORT.findall(source))
    body = TYPES.sub("", EXPORT.sub("", IMPORT.sub(r"const \1 = of_\2;\n", source)))
    return f"const of_{name} = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


@functools.cache
def style() -> str:
    return read("page.css")


def policy(first: str = "page", *, connect: str = "'none'") -> str:
    """The Content-Security-Policy: this script, this style, pictures made here, nothing else."""
    return (
        f"default-src 'none'; script-src {source_hash(script(first))}; "
        f"style-src {source_hash(style())}; "
        f"img-src data: blob:; connect-src {connect}; base-uri 'none'; form-action 'none'"
    )


def source_hash(text: str) -> str:
    """What a policy calls a script or style that stands in the page."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
