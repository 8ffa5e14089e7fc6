"""The way of one word as a trace: every vector, with its formula and one plain sentence."""

from __future__ import annotations

from regard.inside.anatomy.anatomy import Anatomy
from regard.inside.anatomy.layer import FEEDFORWARD, LayerAnatomy, Sublayer
from regard.inside.anatomy.linear import LinearMap
from regard.inside.anatomy.norm import HeldNorm
from regard.pieces.pieces import Pieces
from regard.trace import Array, Step, Trace

STEM = {
    "word": ("E w", "What the token is, wherever it stands."),
    "position": ("P", "Where it stands."),
    "type": ("T", "Which text of a pair it belongs to."),
    "rest": ("R", "What else the model adds before its first layer."),
}
ADDED = {
    "attention": "What attention found in the tokens it looked at, all heads together.",
    "cross-attention": "What attention found in the text to translate.",
    "feed-forward": "What the feed-forward network makes of this vector alone.",
}


def way_trace(anatomy: Anatomy, model: str, reading: Pieces, row: int) -> Trace:
    """Steps before the layers, of each layer (in its scope), and after them."""
    trace = Trace(mechanism=f"{model}, the way of {reading.labels[row]!r}", tokens=reading.labels)
    stem = anatomy.stem
    sign = "" if stem.scale == 1 else f"{stem.scale:.4g} "
    for name, value in stem.parts.items():
        formula, meaning = STEM.get(name, ("", f"What the table {name!r} adds."))
        formula = sign + formula if name == "word" else formula
        trace.steps.append(_step(f"{name}_vector", value, formula, meaning))
    if len(stem.parts) > 1 or stem.maps:
        inner = " + ".join(STEM.get(name, ("R", ""))[0] for name in stem.parts)
        inner = sign + inner
        for step in stem.maps:
            inner = f"norm({inner})" if isinstance(step, HeldNorm) else f"M ({inner})"
        meaning = "What the first layer is given."
        trace.steps.append(_step("embedding", stem.made, inner, meaning))
    for number, layer in enumerate(anatomy.layers):
        trace.steps += layer_steps(layer, f"layer {number}")
    formula = ending_formula(anatomy)
    if formula:
        meaning = "The last vector, brought to the size that the words' vectors expect."
        trace.steps.append(_step("last", anatomy.ending.made, formula, meaning))
    return trace


def ending_formula(anatomy: Anatomy) -> str:
    """What is done to the last layer's vector; empty if no norm is."""
    maps = anatomy.ending.maps
    norms = [step for step in maps if isinstance(step, HeldNorm)]
    if not norms or len(maps) == 1:
        return norms[0].formula if norms else ""
    formula = "x"
    for step in maps:
        if isinstance(step, LinearMap):
            formula = f"W {formula} + b"
        else:
            name = "norm" if isinstance(step, HeldNorm) else step.name
            formula = f"{name}({formula})"
    return formula


def layer_steps(layer: LayerAnatomy, scope: str) -> list[Step]:
    """What a layer is given, and of each part what it reads, adds and leaves."""
    meaning = "What the layer is given: all that was added so far."
    steps = [_step("input", layer.given, "x", meaning, scope)]
    beside = layer.layout == "beside"
    for place, part in enumerate(layer.sublayers):
        x = "x" if beside else "x" + "'" * place
        last = place == len(layer.sublayers) - 1
        name = part.kind.replace("-", "_")
        if part.norm_before is not None:
            meaning = f"What {part.kind} reads: the same vector at an even size."
            formula = f"norm({x})"
            steps.append(_step(f"{name}_norm", part.read, formula, meaning, scope))
        formula, meaning = added_formula(part, x), ADDED[part.kind]
        steps.append(_step(name, part.adds, formula, meaning, scope))
        if beside and not last:
            continue
        left = f"{x} + {part.kind}" if not beside else "x + attention + feed-forward"
        formula = f"norm({left})" if part.norm_after is not None else left
        made = part.made if not last else layer.made
        meaning = "What the next layer is given." if last else "What is there now."
        steps.append(_step("hidden" if last else f"after_{name}", made, formula, meaning, scope))
    return steps


def added_formula(part: Sublayer, x: str = "x") -> str:
    """``attention(norm(x))``, or what a feed-forward network computes."""
    read = f"norm({x})" if part.norm_before is not None else x
    formula = f"{part.kind}({read})"
    if part.kind == FEEDFORWARD:
        formula = f"{part.inner}, x = {read}" if read != "x" else part.inner
    if part.norm_out is not None:
        formula = f"norm({formula})"
    return formula if part.factor == 1 else f"{part.factor:.4g} · {formula}"


def _step(name: str, value: Array, formula: str, meaning: str, scope: str = "") -> Step:
    return Step(name, value, axes=("width",), formula=formula, meaning=meaning, scope=scope)
