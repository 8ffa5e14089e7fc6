"""Settings: from a TOML file, ``a.b=1`` and flags to checked frozen dataclasses.

Every problem is found before any is reported, each with the key it belongs to; a key that does
not exist names the nearest one that does.
"""

from __future__ import annotations

import dataclasses
import math
import os
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from regard.errors import ConfigError, nearest
from regard.files import name_of, read_bytes

Tree = dict[str, Any]
MOST_SETTINGS = 1 << 20
"""Bytes of a file of settings."""
T = TypeVar("T")


def read_toml(path: str | os.PathLike[str]) -> Tree:
    """The tables of a TOML file; ``-`` is standard input."""
    try:
        return tomllib.loads(read_bytes(path, MOST_SETTINGS).decode("utf-8-sig"))
    except RecursionError as error:
        raise ConfigError(f"{name_of(path)} has lists nested too deeply") from error
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ConfigError(f"{name_of(path)} is not TOML: {error}") from error


def parse_assignment(text: str) -> tuple[str, Any]:
    """``a.b=1`` as ("a.b", 1): the value is TOML, or a plain string if it is not."""
    key, equals, value = text.partition("=")
    if not equals or not all(part.strip() for part in key.split(".")):
        raise ConfigError(f"a setting is written key=value, such as train.seed=3; got {text!r}")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):  # no TOML, or more digits or lists than it can hold
        pass
    try:
        return key.strip(), float(value)  # .5 is no TOML, but nobody means a text by it
    except ValueError:
        return key.strip(), value.strip()


def gathered(
    file: str | None, flags: Iterable[tuple[str, Any]], assignments: Iterable[str]
) -> Tree:
    """Settings of a TOML file, over them those of flags, over these ``a.b=1``."""
    given = (
        {} if file is None else read_toml(file),
        nested(flags),
        nested(parse_assignment(text) for text in assignments),
    )
    for name, value in (pair for tree in given for pair in tree.items()):
        if not isinstance(value, dict):
            raise ConfigError(
                f"settings stand in sections, such as train.seed=3; got {name}={value!r:.40}"
            )
    return merged(*given)


def merged(*trees: Mapping[str, Any]) -> Tree:
    """One tree of all; where two have the same key, the later one wins."""
    result: Tree = {}
    for tree in trees:
        for key, value in tree.items():
            old = result.get(key)
            both = isinstance(old, dict) and isinstance(value, Mapping)
            result[key] = merged(old or {}, value) if both else value
    return result


def nested(settings: Iterable[tuple[str, Any]]) -> Tree:
    """{"a": {"b": 1}} of ("a.b", 1)."""
    tree: Tree = {}
    for key, value in settings:
        *path, last = key.split(".")
        branch: Tree = {last: value}
        for part in reversed(path):
            branch = {part: branch}
        tree = merged(tree, branch)
    return tree


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """{"a.b": 1} of {"a": {"b": 1}}."""
    result: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            result |= flat(value, f"{prefix}{key}.")
        else:
            result[f"{prefix}{key}"] = value
    return result


class ProblemsError(ConfigError):
    """Several at once."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def complain(problems: list[str]) -> None:
    """Raise all of them as one error, if there are any."""
    if problems:
        raise ProblemsError(problems)


def at_least(config: object, least: int, *names: str) -> list[str]:
    """A problem for each of these fields that is less than ``least``, or no finite number."""
    pairs = [(name, getattr(config, name)) for name in names]
    return [
        f"{name} must be at least {least}{', and finite' if value >= least else ''}, got {value}"
        for name, value in pairs
        if not least <= value < math.inf
    ]


def at_most(config: object, most: int, *names: str) -> list[str]:
    """A problem for each of these fields that is greater than ``most``."""
    pairs = [(name, getattr(config, name)) for name in names]
    return [
        f"{name} must be at most {most:,}, got {value}" for name, value in pairs if value > most
    ]


def make(kind: type[T], tree: Mapping[str, Any], section: str) -> tuple[T | None, list[str]]:
    """``kind`` made of the keys in ``tree``, or None and everything that is wrong with them."""
    hints = typing.get_type_hints(kind)
    known = {f.name: hints[f.name] for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    problems: list[str] = []
    values: Tree = {}
    for key, value in tree.items():
        if key not in known:
            problems.append(f"there is no setting {section}.{key}{nearest(key, known)}")
            continue
        try:
            values[key] = _fit(value, known[key])
        except TypeError as error:
            problems.append(f"{section}.{key} must be {error}, got {value!r}")
    try:
        made = kind(**values)
    except ProblemsError as error:
        return None, [*problems, *(f"{section}.{text}" for text in error.problems)]
    except TypeError as error:  # a key without a default is missing
        return None, [*problems, f"{section}: {error}"]
    return (None if problems else made), problems


def _fit(value: Any, hint: Any) -> Any:
    """``value`` as the type of a field, or a TypeError that names the type."""
    options = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        if value not in options:
            shown = (str(one) if str(one)[:1].isalnum() else repr(one) for one in options)
            raise TypeError(f"one of {', '.join(shown)}")
        return value
    if isinstance(hint, types.UnionType):
        return None if value is None else _fit(value, options[0])
    if typing.get_origin(hint) is dict:
        if not isinstance(value, dict):
            raise TypeError("a table")
        return {_fit(key, options[0]): _fit(item, options[1]) for key, item in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if type(value) is not hint:
        names = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
        raise TypeError(names.get(hint, hint.__name__))
    return value
