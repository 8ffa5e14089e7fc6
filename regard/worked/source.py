"""Source: the TOML file of a worked example, and where in it something stands."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from regard.errors import ExampleError, FileError, nearest

CLAIMS = re.compile(r"(?m)^[ \t]*\[[ \t]*[\"']?claims[\"']?[ \t]*\][ \t]*(?:#.*)?$")
"""The header of the table of claims."""
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
            text = given.read_bytes().decode("utf-8")
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
            return tomllib.loads(text, parse_float=Decimal)
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
        inside = re.compile(rf"(?m)^[ \t]*{name}=").search(text, border)
        dotted = re.compile(rf"(?m)^[ \t]*claims[ \t]*\.[ \t]*{name}=").search(text)
        return inside or dotted or _find(text, "claims", False)
    set_to = re.compile(rf"(?m)^[ \t]*(?:{name}[.=]|\[[ \t]*{name}\])")
    return set_to.search(text, 0, border) or set_to.search(text)
