"""Source: the TOML or JSON file of a worked example, and where in it something stands."""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from regard.errors import ExampleError, FileError, nearest

CLAIMS = re.compile(
    r"(?m)^[ \t]*\[[ \t]*[\"']?claims[\"']?[ \t]*\][ \t]*(?:#.*)?$"
    r"|^[ \t]*\"claims\"[ \t]*:"
)
"""The header of the table of claims, in TOML or in JSON."""
SHIPPED = Path(__file__).with_name("examples")


def shipped() -> dict[str, Path]:
    """The worked examples that come with regard, by name."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.toml"))}


class KeyedError(ExampleError):
    """An error that knows the key it is about, so that the line can be named."""

    key = ""
    claimed = False
    """Whether the key is one of the table of claims."""


@dataclass(frozen=True)
class ExampleFile:
    """A file's path and text; errors about its content are given the file and the line."""

    path: str
    text: str
    content: dict[str, Any]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> ExampleFile:
        """Read a text file, or the example of this name that comes with regard."""
        name = str(path)
        given = Path(path) if Path(path).is_file() else shipped().get(name, Path(path))
        try:
            text = given.read_bytes().decode("utf-8-sig")  # Windows writes a mark
        except OSError as error:
            hint = nearest(name, shipped()) if isinstance(error, FileNotFoundError) else ""
            raise FileError(f"cannot read {name!r}: {error.strerror}{hint}") from error
        except UnicodeDecodeError as error:
            raise FileError(f"{name!r} is not UTF-8 text (byte {error.start})") from error
        return cls(name, text, cls.parse(name, text))

    @staticmethod
    def parse(path: str, text: str) -> dict[str, Any]:
        """The content; decimals keep the digits as printed: 0.40 claims more than 0.4."""
        try:
            if path.endswith(".json"):
                return _object(path, text)
            return tomllib.loads(text, parse_float=Decimal)
        except json.JSONDecodeError as error:
            raise ExampleError(f"{path!r} is not valid JSON: {error}") from error
        except tomllib.TOMLDecodeError as error:
            raise ExampleError(f"{path!r} is not valid TOML: {error}") from error
        except (ValueError, ArithmeticError) as error:
            # int() and Decimal() set their own limits, and tomllib lets their errors through.
            raise ExampleError(
                f"{path!r} has a number that is too long to be read: a whole number of "
                "thousands of digits or an enormous exponent; write it shorter"
            ) from error
        except RecursionError as error:
            raise ExampleError(
                f"{path!r} has lists nested too deeply: rows of numbers are two deep"
            ) from error

    def located(self, error: ExampleError) -> ExampleError:
        """The error with the file and, where known, the line in front."""
        return ExampleError(f"{self.path!r}{line_of(self.text, error)}: {error}")


def _object(path: str, text: str) -> dict[str, Any]:
    """The content of a JSON file; a key that stands twice is refused, as TOML does."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise ExampleError(f"{path!r} has the key {twice!r} twice: drop one of them")
        return made

    content = json.loads(text, parse_float=Decimal, parse_constant=Decimal, object_pairs_hook=once)
    if not isinstance(content, dict):
        raise ExampleError(f'{path!r} must hold an object: {{"x": …, "claims": {{…}}}}')
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
