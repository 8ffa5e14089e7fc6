"""Remarks: mistakes of understanding in a worked example, which no single number shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regard.errors import ExampleError
from regard.trace import Array, Trace
from regard.worked.claims import Claim
from regard.worked.example import Example

LAYOUTS = {
    "columns-are-outputs": "columns-are-outputs "
    '(Q = X W); if your rows are outputs, as in PyTorch, add layout = "rows-are-outputs".',
    "rows-are-outputs": "rows-are-outputs "
    '(W x, as in the papers); if your columns are outputs, add layout = "columns-are-outputs".',
}
"""What is said of a layout that nobody named, where the other fits too."""


def remarks_on(example: Example, trace: Trace, claims: dict[str, Claim]) -> list[str]:
    """What a teacher would say of the example, its computation and its claims."""
    remarks = []
    if example.layout == "row-per-word" and example.matrices:
        remarks.append(_row_per_word(example))
    if not example.layout_given and _either_layout(example):
        remarks.append(
            "The matrices fit two layouts and the file names none: read as "
            + LAYOUTS[example.layout]
        )
    remarks += _key_width(example)
    for path, claim in claims.items():
        if path.split("/")[-1] == "weights":
            remarks += _sums(trace.value(path), claim)
    if example.mechanism == "dot":
        remarks.append(
            "The scores are not divided by sqrt(d_k): this is dot-product attention, not the "
            "scaled form of the Transformer."
        )
    return remarks


def _row_per_word(example: Example) -> str:
    """The reading that gives each word its own row of the matrix."""
    n, width = example.x.shape
    queries = example.x @ example.matrices["w_q"].T
    first = ", ".join(f"{q:.4g}" for q in queries[0])
    return (
        f"Reading row i of W for word i is not self-attention: W_Q is one {n} x {width} map "
        f"applied to every word (its rows are outputs), so a query is a vector of {n} numbers, "
        f"q_1 = [{first}], and so are a key and a value: d_k = {n}. With a row per word the "
        'matrix would have to grow with the sentence. Use layout = "rows-are-outputs".'
    )


def _either_layout(example: Example) -> bool:
    """Whether the other layout would fit as well and make a difference."""
    others = [layout for layout in LAYOUTS if layout != example.layout]
    if len(others) != 1:
        return False
    try:
        replace(example, layout=others[0])
    except ExampleError:
        return False
    matrices = [w for name, w in example.given.items() if example.is_matrix(name)]
    return any(not np.array_equal(w, w.T) for w in matrices)


def _key_width(example: Example) -> list[str]:
    """d_k is not a free choice: it is the width of a key."""
    width = example.width_of_keys
    if example.d_k is None or width is None or example.d_k == width:
        return []
    numbers = "1 number" if width == 1 else f"{width} numbers"
    text = f"d_k = {example.d_k:g} is not the width of a key: a key has {numbers} here"
    if example.layout == "row-per-word":
        text += f" (and {example.matrices['w_k'].shape[0]} in self-attention proper)"
    if example.dialect.query in example.given and example.d_k == example.x.shape[1]:
        text += f"; {example.d_k:g} is the width of x"
    return [f"{text}. The scores are divided by sqrt(d_k), so each scaled score depends on it."]


def _sums(correct: Array, claim: Claim) -> list[str]:
    """Attention weights of a query are shares: they sum to 1, unless it may attend to nothing."""
    remarks = []
    for index in np.ndindex(correct.shape[:-1]):
        row = claim.value[index]
        if not correct[index].any():
            continue
        allowed = max(claim.tolerance[index].sum(), 1e-6)
        if np.isfinite(row).all() and abs(row.sum() - 1) > allowed:
            place = "".join(f"[{i}]" for i in index)
            remarks.append(
                f"{claim.step}{place} sum to {row.sum():.4f}, not 1: softmax divides by the sum of "
                "the exponentials of the whole row; it cannot be taken of one score alone."
            )
    return remarks
