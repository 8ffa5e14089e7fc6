"""Source: the TOML or JSON file of a worked example, and where in it something stands."""

from __future__ import annotations

import errno
import json
import os
import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from regard.errors import ExampleError, FileError, nearest
from regard.files import STDIN, name_of, read_bytes

CLAIMS = re.compile(
    r"(?m)^[ \t]*\[[ \t]*[\"']?claims[\"']?[ \t]*\][ \t]*(?:#.*)?$"
    r"|^[ \t]*\"claims\"[ \t]*:"
)
"""The header of the table of claims, in TOML or in JSON."""
MOST_EXAMPLE = 64 << 20
"""Bytes of a file with worked examples."""
SHIPPED = Path(__file__).with_name("examples")


def shipped() -> dict[str, Path]:
    """The worked examples that come with regard, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


def found(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The file, or the example of this name: a file that exists comes first."""
    name = os.fspath(path)
    given = path if os.path.isfile(path) else shipped().get(name, path)
    if name != STDIN and not os.path.exists(given):
        missing = f"{os.strerror(errno.ENOENT)}{nearest(name, shipped())}"
        raise FileError(f"cannot read {name!r}: {missing}")
    return given


class KeyedError(ExampleError):
    """An error that knows the key it is about, so that the line can be named."""

    key = ""
    claimed = False
    """Whether the key is one of the table of claims."""


@dataclass(frozen=True)
class ExampleFile:
    """A file's name, as errors say it, and text; errors about its content are given the line."""

    name: str
    text: str
    content: dict[str, Any]
    place: str = ""
    """Which example of the file it is, if it may hold several: ``notes.md:12``."""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ExampleFile:
        """Read a text file (``-``: standard input), or the example of this name that comes with
        regard."""
        name = os.fspath(path)
        try:
            text = read_bytes(found(path), MOST_EXAMPLE).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(f"{name_of(name)} is not UTF-8 text (byte {error.start})") from error
        return cls(name_of(name), text, cls.parse(name_of(name), text))

    @staticmethod
    def parse(name: str, text: str) -> dict[str, Any]:
        """The content; decimals keep the digits as printed: 0.40 claims more than 0.4."""
        try:
            # No TOML begins with a brace: standard input has no name to tell them by.
            if name.strip("'\"").endswith(".json") or text.lstrip().startswith("{"):
                return _object(name, text)
            return tomllib.loads(text, parse_float=Decimal)
        except json.JSONDecodeError as error:
            raise ExampleError(f"{name} is not valid JSON: {error}") from error
        except tomllib.TOMLDecodeError as error:
            raise ExampleError(f"{name} is not valid TOML: {error}") from error
        except (ValueError, ArithmeticError) as error:
            # int() and Decimal() set their own limits, and tomllib lets their errors through.
            raise ExampleError(
                f"{name} has a number that is too long to be read: a whole number of "
                "thousands of digits or an enormous exponent; write it shorter"
            ) from error
        except RecursionError as error:
            raise ExampleError(
                f"{name} has lists nested too deeply: rows of numbers are two deep"
            ) from error

    def located(self, error: ExampleError) -> ExampleError:
        """The error with the file and, where known, the line in front."""
        return ExampleError(f"{self.name}{line_of(self.text, error)}: {error}")


def _object(name: str, text: str) -> dict[str, Any]:
    """The content of a JSON file; a key that stands twice is refused, as TOML does."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise ExampleError(f"{name} has the key {twice!r} twice: drop one of them")
        return made

    content = json.loads(text, parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=once)
    if not isinstance(content, dict):
        raise ExampleError(f'{name} must hold an object: {{"x": …, "claims": {{…}}}}')
    return content


def plain(content: Any) -> Any:
    """Python's numbers and arrays as a file would have them.

    A float is meant to the digits that it is written with, as in a file; what an array holds was
    computed, and is meant exactly.
    """
    if isinstance(content, dict):
        return {key: plain(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [plain(value) for value in content]
    if hasattr(content, "tolist") and hasattr(content, "dtype"):
        return _exact(content.tolist())
    return Decimal(repr(content)) if isinstance(content, float) else content


def _exact(content: Any) -> Any:
    if isinstance(content, list):
        return [_exact(value) for value in content]
    return Decimal(f"{content:.16e}") if isinstance(content, float) else content


def line_of(text: str, error: ExampleError) -> str:
    """``, line 7`` if the error is about a key that stands there."""
    key = getattr(error, "key", "")
    found = _find(text, key, getattr(error, "claimed", False)) if key else None
    return f", line {text.count(chr(10), 0, found.start()) + 1}" if found else ""


def _find(text: str, key: str, claimed: bool) -> re.Match[str] | None:
    """Where the key is set. 'positions' may be a key and a claim: the header parts them."""
    header = CLAIMS.search(text)
    border = header.start() if header else len(text)
    name = rf"[\"']?{re.escape(key)}[\"']?[ \t]*"
    if claimed:
        inside = re.compile(rf"(?m)^[ \t]*{name}[=:]").search(text, border)
        dotted = re.compile(rf"(?m)^[ \t]*claims[ \t]*\.[ \t]*{name}=").search(text)
        return inside or dotted or _find(text, "claims", False)
    set_to = re.compile(rf"(?m)^[ \t]*(?:{name}[.=:]|\[[ \t]*{name}\])")
    return set_to.search(text, 0, border) or set_to.search(text)
