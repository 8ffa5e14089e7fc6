"""Self-attention as one function of the vectors and the matrices, for any number of heads.

    Q = X W_Q,  K = X W_K,  V = X W_V          queries, keys and values of every position
    C = attend(Q, K, V)                        in each head
    Y = [C_1 … C_h] W_O                        heads side by side, then mixed

Without matrices this is simple self-attention: a position's query, key and value are its vector
itself, and the scores are plain dot products.
"""

from __future__ import annotations

from contextlib import nullcontext

from torch import Tensor

from regard.attention.attend import Attended, attend
from regard.attention.mask import Mask, as_mask
from regard.attention.score import Score, dot, scaled_dot
from regard.errors import ShapeError
from regard.record import leading, note, recording

MEANINGS = {
    "queries": "What each position looks for.",
    "keys": "What each position offers to be found by.",
    "values": "What each position hands over when it is attended to.",
}


def self_attention(
    x: Tensor,
    w_q: Tensor | None = None,
    w_k: Tensor | None = None,
    w_v: Tensor | None = None,
    w_o: Tensor | None = None,
    *,
    heads: int = 1,
    score: Score | None = None,
    mask: Mask | Tensor | None = None,
    need_weights: bool = False,
    how: tuple[str, str, str] | None = None,
) -> Attended:
    """Attention of the vectors ``x`` (..., n, width) to each other.

    The matrices are (width, outputs), applied as x @ w; leave all out for simple self-attention.
    The score is dot without matrices and scaled dot with them, unless given. With ``heads`` > 1
    the outputs are cut into that many equal parts (Vaswani et al. 2017, section 3.2.2).
    ``how`` replaces what a trace says that queries, keys and values were made from.
    """
    if score is None:
        score = dot if w_q is None and w_k is None else scaled_dot
    note(
        "input",
        x,
        axes=("position", "width"),
        formula="x_i",
        meaning="One vector for each position.",
    )
    query = _project(x, w_q, "W_Q")
    key = _project(x, w_k, "W_K")
    value = _project(x, w_v, "W_V")
    if how is None:
        how = _how(w_q, "Q"), _how(w_k, "K"), _how(w_v, "V")
    return attend_heads(
        query,
        key,
        value,
        heads=heads,
        score=score,
        mask=mask,
        need_weights=need_weights,
        w_o=w_o,
        how=how,
    )


def attend_heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    heads: int,
    score: Score,
    mask: Mask | Tensor | None,
    need_weights: bool,
    w_o: Tensor | None,
    how: tuple[str, str, str],
) -> Attended:
    """Attend in each head with the projected (..., n, heads · width), then apply ``w_o``."""
    if heads == 1:
        note_projections(query, key, value, how, apart=False)
        context, weights = attend(
            query, key, value, score=score, mask=mask, need_weights=need_weights
        )
    else:
        query, key, value = split(query, heads), split(key, heads), split(value, heads)
        note_projections(query, key, value, how, apart=True)
        mask = over_heads(mask, query)
        with leading("head"):
            attended = attend(query, key, value, score=score, mask=mask, need_weights=need_weights)
        context, weights = join(attended.context), attended.weights
    if w_o is None:
        return Attended(context, weights)
    if w_o.dim() != 2 or context.shape[-1] != w_o.shape[0]:
        raise ShapeError(
            f"W_O must have a row for each number of the heads' outputs side by side, "
            f"{context.shape[-1]}, got {tuple(w_o.shape)}"
        )
    formula = "[c_1 ; … ; c_h] W_O" if heads != 1 else "c[i] W_O"
    return Attended(note_output(context @ w_o, formula), weights)


def split(x: Tensor, heads: int) -> Tensor:
    """(..., n, heads · width) → (..., heads, n, width)."""
    if heads < 1:
        raise ShapeError(f"there must be at least one head, got {heads}")
    if x.dim() < 2:
        raise ShapeError(f"vectors must be (..., positions, width), got {tuple(x.shape)}")
    if x.shape[-1] % heads:
        raise ShapeError(
            f"heads must divide the width: {x.shape[-1]} cannot be cut into {heads} equal parts"
        )
    return x.view(*x.shape[:-1], heads, x.shape[-1] // heads).transpose(-2, -3)


def over_heads(mask: Mask | Tensor | None, query: Tensor) -> Mask | None:
    """A (batch, q, k) mask holds for every head of ``query``: give it an axis for them."""
    mask = as_mask(mask)
    if mask is None or mask.allowed is None or not 2 < mask.allowed.dim() == query.dim() - 1:
        return mask
    return Mask(mask.causal, mask.before, mask.after, mask.allowed.unsqueeze(-3))


def join(context: Tensor) -> Tensor:
    """(..., heads, n, width) → (..., n, heads · width): the heads side by side."""
    joined = context.transpose(-2, -3).flatten(-2)
    note(
        "concatenated",
        joined,
        axes=("query", "width"),
        formula="[c_1 ; … ; c_h]",
        meaning="The heads' results side by side.",
    )
    return joined


def note_projections(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    how: tuple[str, str, str],
    *,
    apart: bool,
) -> None:
    """Note queries, keys and values; ``how`` says what each was made from."""
    if not recording():
        return
    for name, tensor, made in zip(MEANINGS, (query, key, value), how, strict=True):
        note_projection(name, tensor, made, apart=apart)


def note_projection(name: str, tensor: Tensor, how: str, *, apart: bool) -> None:
    """Note ``queries``, ``keys`` or ``values``, by head if ``apart``, and how they are made."""
    axis = "query" if name == "queries" else "key"
    with leading("head") if apart else nullcontext():
        note(
            name,
            tensor,
            axes=(axis, "width"),
            formula=f"{name[0].upper()} = {how}",
            meaning=MEANINGS[name],
        )


def note_turned(query: Tensor, key: Tensor, cached: bool) -> None:
    """Note the queries and keys that the scores are computed from, where positions turn them."""
    note(
        "turned_queries",
        query,
        axes=("query", "width"),
        formula="R(p) q_p",
        meaning="The query of position p, each pair of its numbers turned by an angle times p.",
    )
    note(
        "turned_keys",
        key,
        axes=("key", "width"),
        formula="[cached ; R(p) k_p]" if cached else "R(p) k_p",
        meaning="Keys turned the same way: a score then knows how far apart two positions are.",
    )


def note_output(output: Tensor, formula: str) -> Tensor:
    """Note the layer's output and hand it on."""
    note(
        "output",
        output,
        axes=("query", "width"),
        formula=f"y_i = {formula}",
        meaning="The heads' results mixed into one vector for each position.",
    )
    return output


def _how(w: Tensor | None, name: str) -> str:
    return "X" if w is None else f"X W_{name}"


def _project(x: Tensor, w: Tensor | None, name: str) -> Tensor:
    if w is None:
        return x
    if w.dim() != 2 or x.shape[-1] != w.shape[0]:
        raise ShapeError(
            f"{name} must be (width of a vector, outputs) = ({x.shape[-1]}, outputs), "
            f"got {tuple(w.shape)}"
        )
    return x @ w
