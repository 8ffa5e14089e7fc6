"""Formats: the worked examples of a file, whatever holds them: TOML, JSON, NumPy's npz, markdown.

In an npz the keys are those of a file, and ``claims.weights`` (or ``claims/weights``) is a claim.
In markdown each fenced block that claims something is an example; errors name the line there.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
from typing import Any

from regard.errors import ExampleError, FileError
from regard.files import name_of, read_bytes
from regard.worked.source import MOST_EXAMPLE, ExampleFile, found, plain

FENCE = re.compile(r"(?ms)^(`{3,}|~{3,})[ \t]*(\w*)[^\n]*\n(.*?)^\1[ \t]*$")
LANGUAGES = ("", "toml", "json", "regard")
CLAIMING = re.compile(
    r"(?m)^[ \t]*(\[claims\]|\[\[claims\.run\]\]|claims[ \t]*[.=]|\"claims\"[ \t]*:)"
)


def read_examples(path: str | os.PathLike[str]) -> list[ExampleFile]:
    """Every worked example of a file, or the one of this name that comes with regard."""
    name = os.fspath(path)
    if name.lower().endswith((".md", ".markdown")):
        return _in_markdown(name)
    if name.lower().endswith(".npz"):
        return [_in_npz(name)]
    return [ExampleFile.read(path)]


def read_example(path: str | os.PathLike[str]) -> ExampleFile:
    """The one worked example of a file."""
    examples = read_examples(path)
    if len(examples) != 1:
        lines = ", ".join(example.place.rpartition(":")[2] for example in examples)
        raise ExampleError(
            f"{os.fspath(path)!r} holds {len(examples)} worked examples (lines {lines}), and here "
            "one is wanted: 'regard check' checks them all"
        )
    return examples[0]


def _in_markdown(path: str) -> list[ExampleFile]:
    try:
        text = read_bytes(path, MOST_EXAMPLE).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{name_of(path)} is not UTF-8 text (byte {error.start})") from error
    text = text.replace("\r\n", "\n")
    examples = []
    for block in FENCE.finditer(text):
        if block[2].lower() in LANGUAGES and CLAIMING.search(block[3]):
            before = text.count("\n", 0, block.start(3))
            padded = "\n" * before + block[3]  # so that its lines are those of the page
            content = ExampleFile.parse(name_of(path), padded)
            examples.append(ExampleFile(name_of(path), padded, content, f"{path}:{before + 1}"))
    if not examples:
        raise ExampleError(
            f"{name_of(path)} has no fenced block of a worked example: one begins with ```toml "
            "and has a [claims] table"
        )
    return examples


def _in_npz(path: str) -> ExampleFile:
    import numpy as np

    data = read_bytes(found(path), MOST_EXAMPLE)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile, KeyError) as error:
        raise ExampleError(
            f"{name_of(path)} is no npz file of plain arrays (objects are not read): {error}"
        ) from error
    content: dict[str, Any] = {}
    for key, array in arrays.items():
        parent, _, claim = key.replace("/", ".").partition(".")
        if claim and parent == "claims":
            content.setdefault("claims", {})[claim] = plain(array)
        else:
            content[key] = plain(array)
    return ExampleFile(name_of(path), "", content)
