"""Example: a worked example of attention in a TOML file, and its computation.

mechanism = "scaled"                    # simple, dot, scaled or multihead
tokens = ["thinking", "machines"]       # optional
x = [[1, 0], [0, 1]]                    # a vector for each token
w_q = [[…], …]                          # w_k, w_v; w_o optional
layout = "columns-are-outputs"          # Q = X W; "rows-are-outputs": Q = X Wᵀ
heads = 2                               # optional, as are mask, d_k, positions, tolerance
[claims]                                # numbers to be checked, by the name of the step
"scores[0]" = [0.48, 0.80]
"""

from __future__ import annotations

import functools
import math
import os
import sys
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.attention import Mask, causal, dot, scaled_dot, self_attention
from regard.attention.score import Score
from regard.attention.self_attention import attend_heads
from regard.errors import ExampleError, nearest
from regard.record import note, record
from regard.trace import Array, Trace
from regard.vectors.positions import sinusoidal
from regard.worked.fields import (
    choice,
    count,
    mask,
    matrix,
    positive,
    shown,
    table,
    text,
    tokens,
    whole,
    wrong,
)
from regard.worked.source import ExampleFile

MECHANISMS = ("simple", "dot", "scaled", "multihead")
LAYOUTS = ("columns-are-outputs", "rows-are-outputs", "row-per-word")
MATRICES = ("w_q", "w_k", "w_v", "w_o")
KEYS = (
    *("title", "mechanism", "tokens", "x", *MATRICES, "layout", "heads", "mask", "d_k"),
    *("positions", "tolerance", "claims"),
)


@dataclass(frozen=True)
class Example:
    """A worked example: what goes in, how to read the matrices, and what somebody claims."""

    mechanism: str
    tokens: list[str]
    x: Array
    """(tokens, width)"""
    matrices: dict[str, Array] = field(default_factory=dict)
    """w_q, w_k, w_v, w_o as written; ``layout`` says how to read them."""
    layout: str = "columns-are-outputs"
    heads: int = 1
    mask: Array | str | None = None
    d_k: float | None = None
    positions: str | None = None
    tolerance: float | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    title: str = ""

    layout_given: bool = True
    """False if nobody said the layout and it was found from the shapes."""
    source: ExampleFile | None = field(default=None, repr=False, compare=False)
    """The file it comes from, for errors that are found later."""

    def __post_init__(self) -> None:
        self.check()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Example:
        """Read a TOML file; errors say the file, what is wrong and, where known, the line."""
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
        """Check the content of a TOML file and make the example of it."""
        for key in content:
            if key not in KEYS:
                hint = nearest(key, KEYS) or f"; known: {', '.join(KEYS)}"
                raise wrong(key, f"unknown key {shown(key)}{hint}")
        x = matrix(content, "x")
        matrices = {n: matrix(content, n) for n in MATRICES if n in content}
        return cls(
            choice(content, "mechanism", MECHANISMS, "scaled" if matrices else "simple"),
            tokens(content, len(x)),
            x,
            matrices,
            layout=choice(content, "layout", LAYOUTS, infer_layout(x, matrices)),
            heads=whole(content, "heads", 1),
            mask=mask(content, len(x)),
            d_k=positive(content, "d_k"),
            positions=choice(content, "positions", ("sinusoidal",), None),
            tolerance=positive(content, "tolerance"),
            claims=table(content, "claims"),
            title=text(content, "title"),
            layout_given="layout" in content,
        )

    def check(self) -> None:
        """Raise unless the parts fit together."""
        self._check_mechanism()
        self._check_row_per_word()
        for name, w in self.matrices.items():
            if name != "w_o":
                self._check_matrix(name, w)
        if self.matrices:
            self._check_outputs()

    def located(self, error: ExampleError) -> ExampleError:
        """The error with the file and the line in front, if the example comes from a file."""
        return self.source.located(error) if self.source else error

    def _check_mechanism(self) -> None:
        name = self.mechanism
        if name == "simple" and self.matrices:
            raise wrong(
                "mechanism",
                "simple self-attention has no weight matrices, got "
                f'{", ".join(self.matrices)}; use mechanism = "scaled"',
            )
        missing = [n for n in MATRICES[:3] if n not in self.matrices]
        if name != "simple" and missing:
            raise wrong(
                "mechanism",
                f"mechanism {name!r} needs w_q, w_k and w_v; {missing[0]} is missing",
            )
        if self.heads != 1 and name != "multihead":
            raise wrong(
                "heads",
                f'heads = {shown(self.heads)} needs mechanism = "multihead", got {name!r}',
            )
        if self.d_k is not None and name in ("simple", "dot"):
            raise wrong(
                "d_k",
                f"d_k is what scores are divided by the root of, but mechanism {name!r} is not "
                'scaled: drop d_k, or use mechanism = "scaled"',
            )

    def _check_row_per_word(self) -> None:
        """That reading makes one number of each word: there is nothing to cut or to mix."""
        if self.layout != "row-per-word":
            return
        if self.heads != 1:
            raise wrong(
                "heads",
                "with layout 'row-per-word' a query is one number, which cannot be cut into "
                f"{shown(self.heads)} heads: drop heads, or use another layout",
            )
        if "w_o" in self.matrices:
            raise wrong(
                "w_o",
                "with layout 'row-per-word' each word has one number, which w_o cannot mix: drop "
                "w_o, or use another layout",
            )

    def _check_matrix(self, name: str, w: Array) -> None:
        n, width = self.x.shape
        expected = {
            "columns-are-outputs": (w.shape[0] == width, f"{_rows(width)} (the width of x)"),
            "rows-are-outputs": (w.shape[1] == width, f"{_columns(width)} (the width of x)"),
            "row-per-word": (w.shape == (n, width), f"the shape of x, {n} x {width}"),
        }[self.layout]
        if not expected[0]:
            raise wrong(
                name,
                f"with layout {self.layout!r}, {name} must have {expected[1]}, "
                f"got {w.shape[0]} x {w.shape[1]}",
            )

    def _check_outputs(self) -> None:
        """What the matrices give must fit together: queries and keys, heads, and W_O."""
        given = {name: self.outputs(name) for name in MATRICES[:3]}
        if given["w_q"] != given["w_k"]:
            raise wrong(
                "w_k",
                "queries and keys must be of one width, for their dot product: with layout "
                f"{self.layout!r}, w_q gives {count(given['w_q'], 'number')} and w_k gives "
                f"{given['w_k']}",
            )
        for name, outputs in given.items():
            if outputs % self.heads:
                raise wrong(
                    "heads",
                    f"heads must divide the outputs of {name}: {outputs} cannot be cut into "
                    f"{shown(self.heads)} equal parts",
                )
        if "w_o" in self.matrices:
            self._check_w_o(given["w_v"])

    def _check_w_o(self, inputs: int) -> None:
        rows, columns = self.matrices["w_o"].shape
        got = columns if self.layout == "rows-are-outputs" else rows
        if got != inputs:
            lines = _columns(inputs) if self.layout == "rows-are-outputs" else _rows(inputs)
            raise wrong(
                "w_o",
                f"with layout {self.layout!r}, w_o must have {lines} (the outputs of w_v), "
                f"got {rows} x {columns}",
            )

    def outputs(self, name: str) -> int:
        """How many numbers the matrix ``name`` makes of a vector, over all heads."""
        rows, columns = self.matrices[name].shape
        outputs = {"columns-are-outputs": columns, "rows-are-outputs": rows, "row-per-word": 1}
        return int(outputs[self.layout])

    @property
    def width_of_keys(self) -> int:
        """How many numbers a key of one head has: what d_k should be."""
        return self.outputs("w_k") // self.heads if self.matrices else int(self.x.shape[1])


def compute(example: Example) -> Trace:
    """Run the example in float64 and record every step."""
    x = torch.from_numpy(example.x)
    with record(example.mechanism, example.tokens) as trace:
        if example.positions is not None:
            x = add_positions(x)
        if example.layout == "row-per-word" and example.matrices:
            _attend_row_per_word(example, x)
        else:
            _attend(example, x)
    for step in ("queries", "keys", "values", "scores", "context", "output"):
        if step in trace and not np.isfinite(trace.value(step)).all():
            raise example.located(
                ExampleError(
                    f"the numbers are too large to compute with: {step} would exceed "
                    f"{sys.float_info.max:.1e}; scale x and the matrices down"
                )
            )
    return trace


def _attend(example: Example, x: Tensor) -> None:
    rows = example.layout == "rows-are-outputs"
    tensors = {name: torch.from_numpy(w) for name, w in example.matrices.items()}
    w = {name: tensor.mT if rows else tensor for name, tensor in tensors.items()}
    self_attention(
        x,
        w.get("w_q"),
        w.get("w_k"),
        w.get("w_v"),
        w.get("w_o"),
        heads=example.heads,
        score=_score(example),
        mask=_as_mask(example.mask),
        need_weights=True,
        how=("X W_Qᵀ", "X W_Kᵀ", "X W_Vᵀ") if rows and w else None,
    )


def _attend_row_per_word(example: Example, x: Tensor) -> None:
    """Attention of one number a word: x_i · row i of each matrix."""
    w = [torch.from_numpy(example.matrices[name]) for name in MATRICES[:3]]
    query, key, value = ((x * m).sum(-1, keepdim=True) for m in w)
    note("input", x, axes=("position", "width"), formula="x_i", meaning="As written.")
    attend_heads(
        query,
        key,
        value,
        heads=1,
        score=_score(example),
        mask=_as_mask(example.mask),
        need_weights=True,
        w_o=None,
        how=("x_i · row i of W_Q", "x_i · row i of W_K", "x_i · row i of W_V"),
    )


def add_positions(x: Tensor) -> Tensor:
    """Note the embeddings and the sinusoidal positions; their sum is the input of attention."""
    axes = ("position", "width")
    note("embedding", x, axes=axes, formula="word vector", meaning="What each word means.")
    table = sinusoidal(*x.shape, dtype=x.dtype)
    note(
        "positions",
        table,
        axes=axes,
        formula="sin, cos(pos / 10000^(2i/d))",
        meaning="Where each word stands, added to its vector.",
    )
    return x + table


def infer_layout(x: Array, matrices: dict[str, Array]) -> str:
    """The layout that fits the shapes of W_Q, W_K and W_V; the paper's X W where both do."""
    shapes = [w.shape for name, w in matrices.items() if name != "w_o"]
    as_columns = sum(rows == x.shape[1] for rows, _ in shapes)
    as_rows = sum(columns == x.shape[1] for _, columns in shapes)
    return "rows-are-outputs" if as_rows > as_columns else "columns-are-outputs"


def _score(example: Example) -> Score:
    if example.mechanism in ("simple", "dot"):
        return dot
    if example.d_k is None:
        return scaled_dot
    return functools.partial(scaled_dot, scale=1 / math.sqrt(example.d_k))


def _as_mask(mask: Array | str | None) -> Mask | Tensor | None:
    if isinstance(mask, str):
        return causal()
    return None if mask is None else torch.from_numpy(mask)


def _rows(n: int) -> str:
    return count(n, "row")


def _columns(n: int) -> str:
    return count(n, "column")
