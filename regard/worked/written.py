"""Written: a worked example's content as the text of its TOML file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

COLUMNS = 72
"""A list that is longer gets a line for each of its rows."""


def to_toml(content: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """The file's text: a line for each key, ``# comment`` behind those that have one.

    A comment for ``""`` stands at the top, one of ``claims`` behind its header.
    """
    said = comments or {}
    lines = [f"# {line}" for line in said.get("", "").splitlines()]
    for key, value in content.items():
        if key != "claims":
            lines.append(_line(key, value, said.get(key)))
    if "claims" in content:
        lines += ["", f"[claims]{_behind(said.get('claims'))}"]
        lines += [
            _line(key, value, said.get(f"claims.{key}")) for key, value in content["claims"].items()
        ]
    return "\n".join(lines) + "\n"


def _line(key: str, value: Any, comment: str | None) -> str:
    name = key if key.replace("_", "").isalnum() else json.dumps(key)
    text = f"{name} = {_value(value)}"
    if isinstance(value, list) and len(text) > COLUMNS and isinstance(value[0], list):
        rows = "".join(f"    {_value(row)},\n" for row in value)
        text = f"{name} = [\n{rows}]"
    return text + _behind(comment)


def _behind(comment: str | None) -> str:
    return f"  # {comment}" if comment else ""


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_value(v)}" for key, v in value.items()) + "}"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Decimal):
        return str(value)
    return number(value)


def number(value: float) -> str:
    """As a person writes it: 2 for 2.0, 0.25, 1e-7 not at all."""
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10f}".rstrip("0") if abs(value) >= 1e-9 else "0.0"
