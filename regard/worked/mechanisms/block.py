"""A whole block of the Transformer's encoder."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from regard.attention import Mask, MultiHeadAttention
from regard.models.layers import EncoderLayer
from regard.models.padding import RealRows
from regard.recurrent.simple import note_input
from regard.worked.example import Example
from regard.worked.mechanisms import attention
from regard.worked.mechanisms.layers import (
    feedforward,
    feedforward_stages,
    norm,
    norm_stages,
    residual_stage,
)
from regard.worked.mechanisms.module import filled
from regard.worked.stage import Known, Stage, under, weights_of

LINEARS = {"query": "q", "key": "k", "value": "v", "output": "o"}
SCOPE = "self-attention/"
"""Where the steps of attention are."""
OWN = tuple(f"{kind}_{letter}" for letter in LINEARS.values() for kind in ("w", "b"))
"""The arrays of attention."""


def run(example: Example) -> None:
    """Run :class:`EncoderLayer` over the words, every value noted."""
    known = weights_of(example)
    x = known["x"]
    note_input(x)
    mask = attention.allowed(example, x @ x.mT)
    layer = _layer(example, known)
    rows = RealRows(None, 1, len(x))
    layer(x, rows, None if mask is None else Mask(allowed=mask.unsqueeze(0)))


def stages(example: Example) -> list[Stage]:
    """``self-attention/…`` and ``feed-forward/…``, each with its residual and its norm."""
    before, epsilon = example.option("norm") == "pre", example.option("epsilon")
    made: list[Stage] = []
    stream = "input"
    for scope, part, which in (
        ("self-attention", _attention_stages(example), "_1"),
        ("feed-forward", feedforward_stages("read"), "_2"),
    ):
        normed, joined = f"{scope}/normalised", f"{scope}/residual"
        own = under(scope, part, {"read": normed if before else stream})
        sides = {"x": stream, "y": f"{scope}/output"}
        residual = under(scope, [residual_stage("x", "y")], sides)
        source = {"source": stream if before else joined}
        norms = under(scope, norm_stages("source", which, epsilon), source)
        made += [*norms, *own, *residual] if before else [*own, *residual, *norms]
        stream = joined if before else normed
    return made


def _attention_stages(example: Example) -> list[Stage]:
    """Those of attention; the module has its heads side by side even if there is one."""
    made = attention.stages(attention_of(example))
    if example.heads == 1:
        joined = Stage("concatenated", ("context",), lambda k: k["context"])
        output = made[-1]
        of = output._replace(
            needs=("concatenated", "w_o"),
            run=lambda k: output.run({**k, "context": k["concatenated"]}),
        )
        made = [*made[:-1], joined, of]
    return [Stage("input", ("read",), lambda k: k["read"]), *made]


def attention_of(example: Example) -> Example:
    """The attention of the block, as an example of its own."""
    given = {"x": example.given["x"]}
    given |= {name: example.given[name] for name in OWN if name in example.given}
    return Example(
        "multihead",
        example.tokens,
        given,
        layout=example.layout,
        heads=example.heads,
        mask=example.mask,
    )


@dataclass(frozen=True)
class BlockConfig:
    """The sizes of a block."""

    width: int
    feedforward: int
    norm: str
    heads: int = 1
    dropout: float = 0.0


def _layer(example: Example, known: Known) -> EncoderLayer:
    width, inner = known["w_1"].shape
    layer = EncoderLayer(BlockConfig(width, inner, example.option("norm")))
    outputs = known["w_q"].shape[-1]
    made = MultiHeadAttention(width, example.heads, head_width=outputs // example.heads)
    weights: dict[str, Tensor | None] = {}
    for name, letter in LINEARS.items():
        weights[f"{name}.weight"] = known[f"w_{letter}"].mT
        weights[f"{name}.bias"] = known.get(f"b_{letter}")
    layer.attention = filled(made, weights)
    layer.feedforward = feedforward(known)
    epsilon = example.option("epsilon")
    layer.attention_norm = norm(known, "_1", epsilon)
    layer.feedforward_norm = norm(known, "_2", epsilon)
    return layer.eval()
