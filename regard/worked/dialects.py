"""Dialects: every mechanism that a worked example may be of. How they run is in ``mechanisms``."""

from __future__ import annotations

from collections.abc import Mapping

from regard.worked.dialect import Axes, Dialect, Option

MATRICES = ("w_q", "w_k", "w_v", "w_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")
PROJECTED = {"queries": "q", "keys": "k", "values": "v"}
"""The steps that w_q, w_k and w_v make."""
STEPS = ("queries", "keys", "values", "scores", "scaled")
"""The steps that may be given in place of what they are made from."""

_WEIGHTS = (*MATRICES, *BIASES)


def _asking(about: str, *weights: str, axes: Mapping[str, Axes] | None = None) -> Dialect:
    """Attention of decoder states s to annotations h."""
    return Dialect(
        ("s", "h", *weights, "scores"),
        *("s", "h"),
        projects=False,
        scaled=False,
        needs=weights,
        axes=axes or {},
        about=about,
    )


ATTENTION = {
    "simple": Dialect(
        ("x", "values", "scores"),
        projects=False,
        scaled=False,
        about="self-attention without matrices: e = x_i · x_j",
    ),
    "dot": Dialect(
        ("x", *_WEIGHTS, *STEPS[:4]), scaled=False, about="e = q_i · k_j; Luong's: see luong-dot"
    ),
    "scaled": Dialect(("x", *_WEIGHTS, *STEPS), about="e = q_i · k_j / sqrt(d_k)"),
    "multihead": Dialect(
        ("x", *_WEIGHTS, *STEPS), heads=True, about="the same in each of several heads"
    ),
    "cross": Dialect(
        ("x", "memory", *_WEIGHTS, *STEPS),
        memory="memory",
        heads=True,
        about="queries of x, keys and values of a memory",
    ),
    "bilinear": _asking("e = s W_a h", "w_a", axes={"w_a": ("width", "memory width")}),
    "additive": _asking("Bahdanau's e = v_a · tanh(W_a s + U_a h)", "w_a", "u_a", "v_a"),
    "luong-dot": _asking("Luong's dot, e = s · h", axes={"h": ("key", "width")}),
    "general": _asking(
        "Luong's general, e = s W_a h", "w_a", axes={"w_a": ("width", "memory width")}
    ),
    "concat": _asking(
        "Luong's concat, e = v_a · tanh(W_a [s; h])",
        *("w_a", "v_a"),
        axes={"w_a": ("width+memory width", "hidden")},
    ),
    "softmax": Dialect(
        ("scores", "values"),
        projects=False,
        options={"temperature": Option(1.0, above=True)},
        about="a = softmax(e / T), the temperature T",
    ),
}


def _other(
    family: str,
    about: str,
    needs: Mapping[str, Axes],
    may: Mapping[str, Axes],
    *,
    query: str = "x",
    memory: str | None = None,
    options: Mapping[str, Option] | None = None,
    variants: Mapping[tuple[str, str], Mapping[str, Axes]] | None = None,
    layout: str = "rows-are-outputs",
    heads: bool = False,
    masked: bool = False,
) -> Dialect:
    """A mechanism around attention: the arrays that it needs and those that it may have."""
    varied = [key for keys in (variants or {}).values() for key in keys]
    return Dialect(
        tuple(dict.fromkeys((*needs, *varied, *may))),
        query,
        memory or query,
        projects=False,
        scaled=False,
        heads=heads,
        needs=tuple(needs),
        family=family,
        axes={**needs, **may},
        options=options or {},
        variants=variants or {},
        masked=masked,
        layout=layout,
        about=about,
    )


X: Axes = ("position", "width")
STATE: Axes = ("hidden",)
_RNN = {"x": X, "a": ("width+hidden", "hidden")}
_GATE: Axes = ("hidden+width", "hidden")
_LSTM = {"x": X, "w_i": _GATE, "w_f": _GATE, "w_o": _GATE, "w_c": _GATE}
_LSTM_BIASES = {"b_i": STATE, "b_f": STATE, "b_o": STATE, "b_c": STATE}

RECURRENT = {
    "simple-rnn": _other(
        "simplernn", "h_t = tanh(A [x_t; h_{t-1}] + b)", _RNN, {"b": STATE, "h_0": STATE}
    ),
    "simple-rnn+attention": _other(
        "selfattentive",
        "the same with c_{t-1}, what h_{t-1} attends to, in place of h_{t-1}, or beside it",
        _RNN,
        {"b": STATE},
        options={
            "form": Option("xc", ("xc", "xch")),
            "align": Option("additive", ("additive", "dot")),
        },
        variants={
            ("form", "xch"): {"a": ("width+hidden+hidden", "hidden")},
            ("align", "additive"): {"w": ("hidden+hidden", "aligned"), "v": ("aligned",)},
            ("align", "dot"): {"w_k": ("hidden", "aligned"), "w_q": ("hidden", "aligned")},
        },
    ),
    "lstm": _other(
        "lstmn",
        "gates of [h_{t-1}; x_t], c_t = f * c_{t-1} + i * c^, h_t = o * tanh(c_t)",
        _LSTM,
        {**_LSTM_BIASES, "h_0": STATE, "c_0": STATE},
    ),
    "lstmn": _other(
        "lstmn",
        "the LSTM that attends to all its states and cells (Cheng 2016)",
        {
            **_LSTM,
            "w_h": ("hidden", "aligned"),
            "w_x": ("width", "aligned"),
            "w_tilde": ("hidden", "aligned"),
            "v": ("aligned",),
        },
        _LSTM_BIASES,
    ),
}

WIDTH: Axes = ("width",)
_EPSILON = {"epsilon": Option(1e-5)}
_FEEDFORWARD = {"w_1": ("width", "inner"), "w_2": ("inner", "width")}
_FEEDFORWARD_BIASES = {"b_1": ("inner",), "b_2": WIDTH}
_INNER: Axes = ("inner attention",)

LAYERS = {
    "layer-norm": _other(
        "layers",
        "gamma * (x - mean) / sqrt(variance + epsilon) + beta",
        {"x": X},
        {"gamma": WIDTH, "beta": WIDTH},
        options=_EPSILON,
    ),
    "feed-forward": _other(
        "layers",
        "W_2 max(0, W_1 x + b_1) + b_2",
        {"x": X, **_FEEDFORWARD},
        _FEEDFORWARD_BIASES,
    ),
    "residual": _other(
        "layers",
        'x + sublayer, then, if norm is "post", layer norm of it',
        {"x": X, "sublayer": X},
        {"gamma": WIDTH, "beta": WIDTH},
        options={"norm": Option("none", ("none", "post")), **_EPSILON},
    ),
    "encoder-block": _other(
        "block",
        "multi-head self-attention, then feed-forward, each added to its input and normalised",
        {
            "x": X,
            **dict.fromkeys(("w_q", "w_k", "w_v"), ("width", "inner attention")),
            "w_o": ("inner attention", "width"),
            **_FEEDFORWARD,
        },
        {
            **dict.fromkeys(("b_q", "b_k", "b_v"), _INNER),
            "b_o": WIDTH,
            **_FEEDFORWARD_BIASES,
            **dict.fromkeys(("gamma_1", "beta_1", "gamma_2", "beta_2"), WIDTH),
        },
        options={"norm": Option("post", ("post", "pre")), **_EPSILON},
        layout="columns-are-outputs",
        heads=True,
        masked=True,
    ),
}

_S: Axes = ("query", "state")
_GATED: dict[str, Axes] = {
    name: axes
    for gate in ("", "_z", "_r")
    for name, axes in (
        (f"w{gate}", ("width", "state")),
        (f"u{gate}", ("state", "state")),
        (f"c{gate}", ("annotation", "state")),
    )
}

DECODER = {
    "encoder-decoder": _other(
        "decoder",
        "one step of Bahdanau's decoder: attention to h, then the gated unit",
        {
            "s": _S,
            "h": ("key", "annotation"),
            "y": ("query", "width"),
            "w_a": ("state", "hidden"),
            "u_a": ("annotation", "hidden"),
            "v_a": ("hidden",),
            **_GATED,
        },
        dict.fromkeys(("b", "b_z", "b_r"), ("state",)),
        query="s",
        memory="h",
        options={"readout": Option("none", ("none", "maxout"))},
        variants={
            ("readout", "maxout"): {
                "u_o": ("state", "pairs"),
                "v_o": ("width", "pairs"),
                "c_o": ("annotation", "pairs"),
            }
        },
        masked=True,
    ),
}

_FIRST = {"first": Option(0, whole=True)}

POSITIONS = {
    "sinusoidal": _other(
        "positions",
        "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same",
        {},
        {"x": X},
        options={
            **_FIRST,
            "length": Option(least=1, whole=True),
            "width": Option(least=1, whole=True),
        },
    ),
    "learned": _other(
        "positions",
        "a row of a table for each place, added to x",
        {"x": X, "table": ("place", "width")},
        {},
        options=_FIRST,
    ),
    "rotary": _other(
        "rotary",
        "queries and keys turned by angles that grow with the position, then attention",
        {"queries": ("query", "key width"), "keys": ("key", "key width")},
        {"values": ("key", "value width")},
        query="queries",
        options={
            **_FIRST,
            "base": Option(10000.0, above=True),
            "pairs": Option("halves", ("halves", "neighbours")),
        },
        masked=True,
    ),
}

SMALL = {
    "softmax-gradient": _other(
        "gradient",
        "how the weights of softmax move with its scores, and a loss with them",
        {"scores": ("query", "key")},
        {"upstream": ("query", "key")},
    ),
    "average": _other("average", "one vector for a sentence, the mean of its words'", {"x": X}, {}),
}

DIALECTS = {**ATTENTION, **RECURRENT, **LAYERS, **DECODER, **POSITIONS, **SMALL}
"""Every mechanism by its name in a file."""


def usual(given: set[str], scale_given: bool) -> str:
    """The mechanism of a file that names none."""
    if not any(given <= set(dialect.takes) for dialect in ATTENTION.values()):
        for name, dialect in DIALECTS.items():
            if set(dialect.needs) <= given <= set(dialect.takes) and name not in ATTENTION:
                return name
    if "v_a" in given or "u_a" in given:
        return "additive" if "u_a" in given else "concat"
    if "s" in given or "h" in given:
        return "bilinear" if "w_a" in given else "luong-dot"
    if "memory" in given:
        return "cross"
    if (scale_given and "scores" in given) or given & {*MATRICES, "queries", "keys", "scaled"}:
        return "scaled"
    return "dot" if "scores" in given else "simple"
