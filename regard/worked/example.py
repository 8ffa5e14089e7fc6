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
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.attention import Mask, causal, dot, scaled_dot, self_attention
from regard.attention.score import Score
from regard.attention.self_attention import attend_heads
from regard.embed.positions import sinusoidal
from regard.errors import ExampleError, FileError, nearest
from regard.record import note, record
from regard.trace import Array, Trace
from regard.worked.fields import choice, line_of, mask, matrix, positive, table, whole, wrong

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

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Example:
        """Read a TOML file; errors say the file, what is wrong and, where known, the line."""
        try:
            text = Path(path).read_bytes().decode("utf-8")
        except OSError as error:
            raise FileError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise FileError(f"{str(path)!r} is not UTF-8 text (byte {error.start})") from error
        try:
            # Decimals keep the digits as printed: 0.40 claims more than 0.4.
            content = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            raise ExampleError(f"{str(path)!r} is not valid TOML: {error}") from error
        try:
            return cls.from_dict(content)
        except ExampleError as error:
            raise ExampleError(f"{str(path)!r}{line_of(text, error)}: {error}") from error

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Example:
        """Check the content of a TOML file and make the example of it."""
        for key in content:
            if key not in KEYS:
                raise wrong(
                    key, f"unknown key {key!r}{nearest(key, KEYS)}; known: {', '.join(KEYS)}"
                )
        x = matrix(content, "x")
        matrices = {n: matrix(content, n) for n in MATRICES if n in content}
        mechanism = choice(content, "mechanism", MECHANISMS, "scaled" if matrices else "simple")
        tokens = content.get("tokens", [f"x{i + 1}" for i in range(len(x))])
        if not isinstance(tokens, list) or not all(isinstance(t, str) for t in tokens):
            raise wrong("tokens", "tokens must be a list of texts")
        if len(tokens) != len(x):
            raise wrong(
                "tokens",
                f"there must be a token for each row of x: {len(x)} rows, {len(tokens)} tokens",
            )
        layout = content.get("layout") or infer_layout(x, matrices)
        example = cls(
            mechanism,
            tokens,
            x,
            matrices,
            choice({"layout": layout}, "layout", LAYOUTS, layout),
            whole(content, "heads", 1),
            mask(content, len(x)),
            positive(content, "d_k"),
            choice(content, "positions", ("sinusoidal",), None),
            positive(content, "tolerance"),
            table(content, "claims"),
            str(content.get("title", "")),
        )
        example.check()
        return example

    def check(self) -> None:
        """Raise unless the parts fit together."""
        if self.mechanism == "simple" and self.matrices:
            raise wrong(
                "mechanism",
                "simple self-attention has no weight matrices, got "
                f'{", ".join(self.matrices)}; use mechanism = "scaled"',
            )
        if self.mechanism != "simple":
            for name in ("w_q", "w_k", "w_v"):
                if name not in self.matrices:
                    raise wrong(
                        "mechanism",
                        f"mechanism {self.mechanism!r} needs w_q, w_k and w_v; {name} is missing",
                    )
        if self.heads != 1 and self.mechanism != "multihead":
            raise wrong(
                "heads",
                f'heads = {self.heads} needs mechanism = "multihead", got {self.mechanism!r}',
            )
        for name, w in self.matrices.items():
            if name != "w_o":
                self._check_matrix(name, w)

    def _check_matrix(self, name: str, w: Array) -> None:
        n, width = self.x.shape
        expected = {
            "columns-are-outputs": (w.shape[0] == width, f"{width} rows (the width of x)"),
            "rows-are-outputs": (w.shape[1] == width, f"{width} columns (the width of x)"),
            "row-per-word": (w.shape == (n, width), f"the shape of x, {n} x {width}"),
        }[self.layout]
        if not expected[0]:
            raise wrong(
                name,
                f"with layout {self.layout!r}, {name} must have {expected[1]}, "
                f"got {w.shape[0]} x {w.shape[1]}",
            )

    @property
    def width_of_keys(self) -> int:
        """How many numbers a key of one head has: what d_k should be."""
        if not self.matrices:
            return int(self.x.shape[1])
        rows, columns = self.matrices["w_k"].shape
        outputs = {"columns-are-outputs": columns, "rows-are-outputs": rows, "row-per-word": 1}
        return int(outputs[self.layout]) // self.heads


def compute(example: Example) -> Trace:
    """Run the example in float64 and record every step."""
    x = torch.from_numpy(example.x)
    w = {name: _as_columns(example, m) for name, m in example.matrices.items()}
    rule = _as_mask(example.mask)
    with record(example.mechanism, example.tokens) as trace:
        if example.positions is not None:
            x = add_positions(x)
        if example.layout == "row-per-word" and example.matrices:
            q, k, v = ((x * w[n]).sum(-1, keepdim=True) for n in ("w_q", "w_k", "w_v"))
            note("input", x, axes=("position", "width"), formula="x_i", meaning="As written.")
            how = ("x_i · row i of W_Q", "x_i · row i of W_K", "x_i · row i of W_V")
            attend_heads(
                q, k, v, heads=1, score=_score(example), mask=rule, need_weights=True, w_o=None,
                how=how,
            )  # fmt: skip
        else:
            self_attention(
                x,
                w.get("w_q"),
                w.get("w_k"),
                w.get("w_v"),
                w.get("w_o"),
                heads=example.heads,
                score=_score(example),
                mask=rule,
                need_weights=True,
            )
    return trace


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
    """The one layout that fits the shapes; the paper's X W where both do."""
    if "w_q" not in matrices:
        return "columns-are-outputs"
    rows, columns = matrices["w_q"].shape
    return "rows-are-outputs" if columns == x.shape[1] != rows else "columns-are-outputs"


def _score(example: Example) -> Score:
    if example.mechanism in ("simple", "dot"):
        return dot
    if example.d_k is None:
        return scaled_dot
    return functools.partial(scaled_dot, scale=1 / math.sqrt(example.d_k))


def _as_columns(example: Example, matrix: Array) -> Tensor:
    tensor = torch.from_numpy(matrix)
    return tensor.mT if example.layout == "rows-are-outputs" else tensor


def _as_mask(mask: Array | str | None) -> Mask | Tensor | None:
    if isinstance(mask, str):
        return causal()
    return None if mask is None else torch.from_numpy(mask)
