"""Everything that can go wrong because of what a user passed: one base class, few leaves.

An error's text says the rule, what was expected and what was got, and what to do. The command
line prints it on one line and exits with code 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class RegardError(Exception):
    """Base of all errors that regard raises on purpose."""


class ShapeError(RegardError):
    """Arrays whose shapes do not fit together."""


class MaskError(RegardError):
    """A mask of the wrong shape or dtype."""


class FileError(RegardError):
    """A file that cannot be read or written: missing, cut, of another format."""


class ExampleError(RegardError):
    """A worked example (TOML) whose content cannot be understood."""


class UnknownWordError(RegardError, KeyError):
    """A word that is not in the sentence or not in the vocabulary.

    Also a KeyError: what it is raised by is often asked like a dictionary, ``words["cat"]``.
    """

    __str__ = Exception.__str__  # KeyError's own puts quotes around the message


class ConfigError(RegardError):
    """Settings that cannot be: unknown, of the wrong type, out of range, or against each other."""


class DataError(RegardError):
    """A text or table whose content cannot be used: encoding, columns, line counts, too little."""


class TrainingError(RegardError):
    """A run that cannot go on, such as a loss that is no longer a number."""


class ModelError(RegardError):
    """A pretrained model that cannot be found, fetched or read."""


class MissingExtraError(RegardError):
    """A package that only some things need, and that is not installed.

    Named by its own name, and not as an extra of regard: the index has no regard.
    """

    def __init__(self, what: str, *packages: str) -> None:
        names, command = " and ".join(packages), " ".join(packages)
        super().__init__(f"{what} needs {names}: pip install {command}")


def nearest(word: str, known: Iterable[str], *, most: int = 3) -> str:
    """``; did you mean 'a' or 'b'?`` for the end of an error, or nothing if none is near."""
    names = list(known)
    found = get_close_matches(word, names, n=most, cutoff=0.6)
    if not found and len(word) > 1:  # lr for learning_rate
        found = [n for n in names if "".join(part[:1] for part in n.split("_")) == word][:most]
    return f"; did you mean {' or '.join(repr(f) for f in found)}?" if found else ""


def first_line(error: BaseException) -> str:
    """What another library says of its error, on one line; its name if it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
