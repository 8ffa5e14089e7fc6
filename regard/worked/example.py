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
from regard.worked.dialects import AXES, DIALECTS, MATRICES, PROJECTED, STEPS, usual
from regard.worked.fields import array, choice, mask, positive, shown, table, text, tokens, whole
from regard.worked.fields import wrong as wrong_key
from regard.worked.fit import check_fit, keys_of, queries_of
from regard.worked.parts import Parts
from regard.worked.source import ExampleFile

LAYOUTS = ("columns-are-outputs", "rows-are-outputs", "row-per-word")
KEYS = (
    *("title", "mechanism", "tokens", "x", *MATRICES, "layout", "heads", "mask", "d_k"),
    *("positions", "tolerance", "claims", "key_heads", "scale", "memory_tokens"),
    *(name for name in AXES if name not in ("x", *MATRICES)),
)


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
        return cls.from_file(ExampleFile.read(path))

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
        for key in content:
            if key not in KEYS:
                hint = nearest(key, KEYS) or f"; known: {', '.join(KEYS)}"
                raise wrong_key(key, f"unknown key {shown(key)}{hint}")
        heads = whole(content, "heads", 1)
        given = _arrays(content, heads)
        scale_given = "d_k" in content or "scale" in content
        mechanism = choice(content, "mechanism", tuple(DIALECTS), usual(set(given), scale_given))
        if not given:
            array(content, DIALECTS[mechanism].query, 2)  # says that it is missing
        if "positions" in content and DIALECTS[mechanism].query not in given:
            raise wrong_key("positions", "positions are added to x, which is missing")
        queries, keys = queries_of(mechanism, given), keys_of(mechanism, given)
        return cls(
            mechanism,
            tokens(content, *_named(mechanism, given)),
            given,
            layout=choice(content, "layout", LAYOUTS, infer_layout(mechanism, given)),
            heads=heads,
            key_heads=whole(content, "key_heads", 1) if "key_heads" in content else None,
            mask=mask(content, queries, keys),
            d_k=positive(content, "d_k"),
            scale=positive(content, "scale"),
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


def _arrays(content: dict[str, Any], heads: int) -> dict[str, Array]:
    """What is given; steps of several heads have a matrix for each."""
    return {
        name: array(content, name, len(axes) + (name in STEPS and heads > 1))
        for name, axes in AXES.items()
        if name in content
    }


def _named(mechanism: str, given: dict[str, Array]) -> tuple[int, str]:
    """How many tokens there must be, and what each is for."""
    dialect = DIALECTS[mechanism]
    if dialect.query in given:
        return len(given[dialect.query]), f"row of {dialect.query}"
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


def infer_layout(mechanism: str, given: dict[str, Array]) -> str:
    """The layout that fits the shapes of W_Q, W_K and W_V; the paper's X W where both do."""
    dialect, fits = DIALECTS[mechanism], {"rows": 0, "columns": 0}
    for step, letter in PROJECTED.items():
        source = given.get(dialect.query if step == "queries" else dialect.memory)
        if source is not None and f"w_{letter}" in given:
            rows, columns = given[f"w_{letter}"].shape
            fits["columns"] += rows == source.shape[-1]
            fits["rows"] += columns == source.shape[-1]
    return "rows-are-outputs" if fits["rows"] > fits["columns"] else "columns-are-outputs"
