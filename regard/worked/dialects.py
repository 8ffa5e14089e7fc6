"""Dialects: what a worked example of each mechanism may give. How they run is in ``stages``."""

from __future__ import annotations

from dataclasses import dataclass

MATRICES = ("w_q", "w_k", "w_v", "w_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")
PROJECTED = {"queries": "q", "keys": "k", "values": "v"}
"""The steps that w_q, w_k and w_v make."""
STEPS = ("queries", "keys", "values", "scores", "scaled")
"""The steps that may be given in place of what they are made from."""


@dataclass(frozen=True)
class Dialect:
    """The arrays that a file of one mechanism may hold, and where queries and keys come from."""

    takes: tuple[str, ...]
    query: str = "x"
    """The key of the vectors that ask."""
    memory: str = "x"
    """The key of the vectors that are asked."""
    projects: bool = True
    """Whether queries, keys and values are made by matrices, or are the vectors themselves."""
    scaled: bool = True
    heads: bool = False
    needs: tuple[str, ...] = ()
    """The weights that the score has."""


_WEIGHTS = (*MATRICES, *BIASES)

DIALECTS = {
    "simple": Dialect(("x", "values", "scores"), projects=False, scaled=False),
    "dot": Dialect(("x", *_WEIGHTS, *STEPS[:4]), scaled=False),
    "scaled": Dialect(("x", *_WEIGHTS, *STEPS)),
    "multihead": Dialect(("x", *_WEIGHTS, *STEPS), heads=True),
    "cross": Dialect(("x", "memory", *_WEIGHTS, *STEPS), memory="memory", heads=True),
    "bilinear": Dialect(
        ("s", "h", "w_a", "scores"), "s", "h", projects=False, scaled=False, needs=("w_a",)
    ),
    "additive": Dialect(
        ("s", "h", "w_a", "u_a", "v_a", "scores"),
        *("s", "h"),
        projects=False,
        scaled=False,
        needs=("w_a", "u_a", "v_a"),
    ),
}

AXES = {
    "x": ("query", "width"),
    "s": ("query", "width"),
    "memory": ("key", "memory width"),
    "h": ("key", "memory width"),
    "queries": ("query", "key width"),
    "keys": ("key", "key width"),
    "values": ("key", "value width"),
    "scores": ("query", "key"),
    "scaled": ("query", "key"),
    "w_q": ("width", "key width"),
    "w_k": ("memory width", "key width"),
    "w_v": ("memory width", "value width"),
    "w_o": ("value width", "output width"),
    "b_q": ("key width",),
    "b_k": ("key width",),
    "b_v": ("value width",),
    "b_o": ("output width",),
    "w_a": ("width", "hidden"),
    "u_a": ("memory width", "hidden"),
    "v_a": ("hidden",),
}
"""The axes of each array; those of one name are of one length. Matrices are (inputs, outputs)."""


def usual(given: set[str], scale_given: bool) -> str:
    """The mechanism of a file that names none."""
    if "v_a" in given or "u_a" in given:
        return "additive"
    if "s" in given or "h" in given:
        return "bilinear"
    if "memory" in given:
        return "cross"
    if (scale_given and "scores" in given) or given & {*MATRICES, "queries", "keys", "scaled"}:
        return "scaled"
    return "dot" if "scores" in given else "simple"
