"""Example: a worked example of attention in a file; ``stages`` says how it is computed.

mechanism = "scaled"                    # dialects.py has the others
tokens = ["thinking", "machines"]       # optional
x = [[1, 0], [0, 1]]                    # a vector for each token
w_q = [[…], …]                          # w_k, w_v; w_o optional
layout = "columns-are-outputs"          # Q = X W; "rows-are-outputs": Q = X Wᵀ
heads = 2                               # optional, as are mask, d_k, positions, tolerance
[claims]                                # numbers to be checked, by the name of the step
"scores[0]" = [0.48, 0.80]

A later step may be given in place of x and the matrices: queries, keys, values, scores, scaled.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

from regard.errors import ExampleError, nearest
from regard.trace import Array
from regard.worked.dialect import AXES, Dialect
from regard.worked.dialects import DIALECTS, MATRICES, PROJECTED, STEPS, usual
from regard.worked.fields import array, choice, mask, positive, shown, table, text, tokens, whole
from regard.worked.fields import option as read_option
from regard.worked.fields import wrong as wrong_key
from regard.worked.fit import check_axes, check_fit, check_takes, keys_of, queries_of
from regard.worked.formats import read_example
from regard.worked.parts import Parts
from regard.worked.source import ExampleFile

LAYOUTS = ("columns-are-outputs", "rows-are-outputs", "row-per-word")
COMMON = ("title", "mechanism", "tokens", "layout", "tolerance", "claims")
"""The keys that every mechanism has."""
SETTINGS = tuple(dict.fromkeys(name for d in DIALECTS.values() for name in d.settings))
ARRAYS = tuple(dict.fromkeys((*AXES, *(key for d in DIALECTS.values() for key in d.takes))))
KEYS = tuple(dict.fromkeys(("title", "mechanism", "tokens", "x", *MATRICES, *COMMON, *SETTINGS,
                            *ARRAYS)))  # fmt: skip


@dataclass(frozen=True)
class Example(Parts):
    """A worked example: what goes in, how to read the matrices, and what somebody claims."""

    positions: str | None = None
    tolerance: float | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    memory_tokens: list[str] = field(default_factory=list)

    layout_given: bool = True
    """False if nobody said the layout and it was found from the shapes."""
    source: ExampleFile | None = field(default=None, repr=False, compare=False)
    """The file it comes from, for errors that are found later."""

    def __post_init__(self) -> None:
        check_fit(self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Example:
        """Read a file; errors say the file, what is wrong and, where known, the line."""
        return cls.from_file(read_example(path))

    @classmethod
    def from_file(cls, source: ExampleFile) -> Example:
        """The example of a file that was read."""
        try:
            return replace(cls.from_dict(source.content), source=source)
        except ExampleError as error:
            raise source.located(error) from error

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Example:
        """Check the content of a file and make the example of it."""
        mechanism = _mechanism(content)
        dialect = DIALECTS[mechanism]
        heads = whole(content, "heads", 1)
        options = _options(content, dialect)
        given = _arrays(content, dialect, options, heads)
        if not given and "length" not in options:
            array(content, dialect.query, 2)  # says that it is missing
        if "positions" in content and dialect.query not in given:
            raise wrong_key("positions", "positions are added to x, which is missing")
        queries, keys = queries_of(mechanism, given), keys_of(mechanism, given)
        return cls(
            mechanism,
            tokens(content, *_named(mechanism, given, options)),
            given,
            layout=choice(content, "layout", LAYOUTS, infer_layout(mechanism, given, options)),
            heads=heads,
            key_heads=whole(content, "key_heads", 1) if "key_heads" in content else None,
            mask=mask(content, queries, keys),
            d_k=positive(content, "d_k"),
            scale=positive(content, "scale"),
            options=options,
            positions=choice(content, "positions", ("sinusoidal",), None),
            tolerance=positive(content, "tolerance"),
            claims=table(content, "claims"),
            title=text(content, "title"),
            memory_tokens=_memory_tokens(content, mechanism, given),
            layout_given="layout" in content,
        )

    def located(self, error: ExampleError) -> ExampleError:
        """The error with the file and the line in front, if the example comes from a file."""
        return self.source.located(error) if self.source else error


def _mechanism(content: dict[str, Any]) -> str:
    """Which mechanism the file is of; an error for a key that it does not have."""
    named = {key for key in content if key in ARRAYS}
    mechanism: str = choice(
        content, "mechanism", tuple(DIALECTS), usual(named, "d_k" in content or "scale" in content)
    )
    if mechanism == "dot" and named & {"s", "h"}:
        mechanism = "luong-dot"
    dialect = DIALECTS[mechanism]
    own = (*COMMON, *dialect.settings, *dialect.takes)
    for key in content:
        if key not in KEYS:
            known = own if "mechanism" in content else KEYS
            hint = nearest(key, known) or f"; known: {', '.join(known)}"
            raise wrong_key(key, f"unknown key {shown(key)}{hint}")
    check_takes(mechanism, [key for key in content if key in named])
    if dialect.family != "attention" or dialect.options:
        for key in content:
            if key in SETTINGS and key not in own:
                has = f"; it has {', '.join(dialect.settings)}" if dialect.settings else ""
                raise wrong_key(key, f"mechanism {mechanism!r} has no {key}{has}")
    return mechanism


def _options(content: dict[str, Any], dialect: Dialect) -> dict[str, Any]:
    """The settings that only this mechanism has; arrays may show which choice is meant."""
    options = {}
    for name, kind in dialect.options.items():
        options[name] = read_option(content, name, kind)
        for (of, value), keys in dialect.variants.items():
            shows = any(key in content and key not in dialect.needs for key in keys)
            if of == name and name not in content and shows:
                options[name] = value
    return options


def _arrays(
    content: dict[str, Any], dialect: Dialect, options: dict[str, Any], heads: int
) -> dict[str, Array]:
    """What is given; steps of several heads have a matrix for each."""
    return {
        name: array(
            content,
            name,
            len(dialect.axes_of(name, options)) + (name in STEPS and dialect.heads and heads > 1),
        )
        for name in dialect.takes
        if name in content
    }


def _named(mechanism: str, given: dict[str, Array], options: dict[str, Any]) -> tuple[int, str]:
    """How many tokens there must be, and what each is for."""
    dialect = DIALECTS[mechanism]
    if dialect.query in given:
        return len(given[dialect.query]), f"row of {dialect.query}"
    if options.get("length"):
        return options["length"], "position"
    if dialect.memory != dialect.query:
        return queries_of(mechanism, given), "query"
    return keys_of(mechanism, given), "key"


def _memory_tokens(content: dict[str, Any], mechanism: str, given: dict[str, Array]) -> list[str]:
    dialect = DIALECTS[mechanism]
    if dialect.memory == dialect.query:
        if "memory_tokens" in content:
            raise wrong_key(
                "memory_tokens", f"mechanism {mechanism!r} has no memory: drop memory_tokens"
            )
        return []
    return tokens(content, keys_of(mechanism, given), "key", "memory_tokens")


def infer_layout(mechanism: str, given: dict[str, Array], options: dict[str, Any]) -> str:
    """The layout that fits the shapes; where both do, the one that the mechanism usually has."""
    dialect = DIALECTS[mechanism]
    if dialect.family != "attention":
        fitting = [layout for layout in LAYOUTS[:2] if _fits(mechanism, given, options, layout)]
        return fitting[0] if len(fitting) == 1 else dialect.layout
    fits = {"rows": 0, "columns": 0}
    for step, letter in PROJECTED.items():
        source = given.get(dialect.query if step == "queries" else dialect.memory)
        if source is not None and f"w_{letter}" in given:
            rows, columns = given[f"w_{letter}"].shape
            fits["columns"] += rows == source.shape[-1]
            fits["rows"] += columns == source.shape[-1]
    return "rows-are-outputs" if fits["rows"] > fits["columns"] else dialect.layout


def _fits(mechanism: str, given: dict[str, Array], options: dict[str, Any], layout: str) -> bool:
    try:
        check_axes(Parts(mechanism, [], given, layout=layout, options=options))
    except ExampleError:
        return False
    return True
