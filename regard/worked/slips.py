"""Slips: the usual mistakes at each step, and what numbers they give.

Each takes the steps before as they are known (rightly, or as claimed) and gives the whole step as
it would be with that mistake. ``diagnosis`` tells which of them made a wrong number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import torch

from regard.attention import weigh
from regard.trace import Array
from regard.worked.dialects import PROJECTED
from regard.worked.example import Example
from regard.worked.mechanisms.attention import additive_weights, allowed
from regard.worked.stage import Known, Stage, weights_of
from regard.worked.stages import attention_in, stages

Steps = Mapping[str, Array]
"""The numbers of the steps."""


class Slip(NamedTuple):
    """A mistake: its name, how it ends "… is what you get if", and the step as it comes out."""

    name: str
    says: str
    value: Array


def slips(example: Example, step: str, known: Steps) -> Iterator[Slip]:
    """Every usual mistake in making ``step`` of the steps in ``known``, likely ones first."""
    usual = {
        "scores": _of_scores,
        "scaled": _of_scaled,
        "weights": _of_weights,
        "context": _of_context,
        "concatenated": _of_joined,
        "output": _of_output,
    }
    if example.dialect.family != "attention":
        yield from _of_stage(example, step, known)
        yield from _of_attention_in(example, step, known)
    elif step in PROJECTED:
        yield from _of_projection(example, step, known)
    elif step in usual:
        yield from usual[step](example, known)
    if step in known:
        yield from _misplaced(step, known[step])
        yield from _of_another_word(step, known)
    yield from _rounded(example, step, known)


def _of_stage(example: Example, step: str, known: Steps) -> Iterator[Slip]:
    """The mistakes that the stage knows of, and those in the weights that it uses."""
    stage = _stage(example, step)
    if stage is None:
        return
    for row in stage.gathers:
        yield from _of_row(example, stage, row, known)
    weights = weights_of(example)
    tensors = {**weights, **_tensors(known)}
    for wrongly in stage.slips:
        yield Slip(wrongly.says, wrongly.says, wrongly.run(tensors).numpy())
    own = [name for name in stage.weights if name in weights]
    for name in own:
        w = weights[name]
        if w.dim() == 1:
            none = {**weights, name: torch.ones_like(w) if name.startswith("gamma") else w * 0}
            says = f"{name} is forgotten"
            yield Slip(says, says, _run(example, step, known, none))
        elif w.shape[0] == w.shape[1]:
            says = f"{name.upper()} is transposed"
            yield Slip(says, says, _run(example, step, known, {**weights, name: w.mT}))
        for other, taken in weights.items():
            if other != name and w.dim() == 2 and taken.shape == w.shape and other != "x":
                says = f"{other.upper()} is used for {name.upper()}"
                yield Slip(says, says, _run(example, step, known, {**weights, name: taken}))


def _of_attention_in(example: Example, step: str, known: Steps) -> Iterator[Slip]:
    """The mistakes of attention, where it is a part of the mechanism."""
    part = attention_in(example)
    if part is None or not step.startswith(part[1]):
        return
    inside = {
        name.removeprefix(part[1]): v for name, v in known.items() if name.startswith(part[1])
    }
    for name in ("queries", "keys"):  # what is turned is what attends
        inside[name] = inside.get(f"turned_{name}", inside[name])
    name = step.removeprefix(part[1])
    if any(stage.name == name for stage in stages(part[0])) and name not in part[0].given:
        yield from slips(part[0], name, inside)


def _of_row(example: Example, stage: Stage, row: str, known: Steps) -> Iterator[Slip]:
    """The mistakes in one row of a step that is nothing but rows."""
    if row not in known:
        return
    i = stage.gathers.index(row)
    for slip in slips(example, row, known):
        whole = np.array(known[stage.name])
        if slip.value.shape == known[row].shape:
            whole[i, ..., : slip.value.shape[-1]] = slip.value
            yield slip._replace(value=whole)


def _tensors(known: Steps) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in known.items()}


def _of_projection(example: Example, step: str, known: Steps) -> Iterator[Slip]:
    letter = PROJECTED[step]
    name = f"w_{letter}"
    if name not in example.given or example.layout == "row-per-word":
        return
    weights = weights_of(example)
    w, plus = weights[name], f"b_{letter}"
    if w.shape[0] == w.shape[1]:
        turned = {**weights, name: w.mT}
        yield Slip(
            "transposed", f"{name.upper()} is transposed", _run(example, step, known, turned)
        )
    for other, of in PROJECTED.items():
        if of != letter and f"w_{of}" in weights and weights[f"w_{of}"].shape == w.shape:
            taken = {**weights, name: weights[f"w_{of}"], plus: weights.get(f"b_{of}", w[0] * 0)}
            says = f"{name.upper()[:2]}{of.upper()} is used for {name.upper()}"
            if (step, other) == ("values", "keys"):
                says = "the key is taken for the value"
            yield Slip("another matrix", says, _run(example, step, known, taken))
    if plus in weights:
        none = {n: v for n, v in weights.items() if n != plus}
        yield Slip("no bias", f"b_{letter} is forgotten", _run(example, step, known, none))


def _of_scores(example: Example, known: Steps) -> Iterator[Slip]:
    if "scaled" in known:
        yield Slip("scaled already", "the scores are divided by sqrt(d_k) already", known["scaled"])
    if "v_a" in example.dialect.needs:
        w = weights_of(example)
        q, k = torch.from_numpy(known["queries"]), torch.from_numpy(known["keys"])
        w_a, u_a = additive_weights(w, q.shape[-1])
        hidden = (q @ w_a).unsqueeze(-2) + (k @ u_a).unsqueeze(-3)
        alike = (hidden.sigmoid() @ w["v_a"]).numpy()
        yield Slip("sigmoid", "a sigmoid is taken for tanh", alike)
        yield Slip("no tanh", "tanh is forgotten", (hidden @ w["v_a"]).numpy())
    elif "queries" in known and known["queries"].shape[-2] == known["scores"].shape[-1]:
        own = known["queries"] @ np.swapaxes(known["queries"], -1, -2)
        yield Slip("query for key", "queries are taken for keys", own)


def _of_scaled(example: Example, known: Steps) -> Iterator[Slip]:
    scores = known["scores"]
    yield Slip("not scaled", "the scores are not divided by sqrt(d_k)", scores)
    for slip, says, factor in _wrong_scales(example, scores.shape[-1]):
        yield Slip(slip, says, scores * factor)


def _wrong_scales(example: Example, keys: int) -> Iterator[tuple[str, str, float]]:
    """Factors that are taken for the right one."""
    right = example.factor or 1.0
    d_k = 1 / right**2
    yield "divided by d_k", f"the scores are divided by d_k = {d_k:.4g}, not by its root", 1 / d_k
    yield "multiplied", "the scores are multiplied by sqrt(d_k)", 1 / right
    widths = {example.heads * d_k: "all heads", keys: "the number of keys"}
    if example.dialect.query in example.given:
        widths[example.x.shape[-1]] = "a vector"
    if example.width_of_keys is not None:
        widths[example.width_of_keys] = "a key"
    for width, whose in widths.items():
        if not math.isclose(width, d_k):
            of = whose if whose.startswith("the ") else f"the width of {whose}"
            yield "wrong width", f"sqrt({width:g}), {of}, is taken for sqrt({d_k:.4g})", width**-0.5


def _of_weights(example: Example, known: Steps) -> Iterator[Slip]:
    fitting = known["scaled" if example.dialect.scaled else "scores"]
    mask = allowed(example, torch.from_numpy(fitting))
    yield from _of_softmax(fitting)
    if example.dialect.scaled and "scores" in known:
        scores = known["scores"]
        yield Slip("not scaled", "the scores are not scaled before softmax", _soft(scores, mask))
        for slip, says, factor in _wrong_scales(example, scores.shape[-1]):
            yield Slip(slip, says, _soft(scores * factor, mask))
    if mask is not None:
        free = _soft(fitting, None)
        yield Slip("no mask", "the mask is forgotten", free)
        after = np.where(np.broadcast_to(mask.numpy(), free.shape), free, 0)
        yield Slip("masked late", "the mask is applied after softmax, not before", after)


def _of_softmax(fitting: Array) -> Iterator[Slip]:
    alone = 1 / (1 + np.exp(-fitting))
    yield Slip("each alone", "softmax is taken of each score alone, 1 / (1 + e^-score)", alone)
    columns = np.swapaxes(_soft(np.swapaxes(fitting, -1, -2), None), -1, -2)
    yield Slip("wrong axis", "softmax is taken over the queries (columns), not the keys", columns)
    raised = np.exp(fitting)
    whole = raised / raised.sum((-1, -2), keepdims=True)
    yield Slip("whole matrix", "softmax is taken over the whole matrix, not row by row", whole)
    yield Slip("not divided", "the exponentials are not divided by their sum", raised)
    total = fitting / fitting.sum(-1, keepdims=True)
    yield Slip("no exponential", "scores are divided by their sum without exponentials", total)


def _of_context(example: Example, known: Steps) -> Iterator[Slip]:
    weights, values = known["weights"], known["values"]
    for step, called in (("keys", "key"), ("queries", "query"), ("input", "vector x")):
        if step in known and known[step].shape == values.shape:
            taken = _run(example, "context", {**known, "values": known[step]})
            yield Slip(f"{called} for value", f"the {called} is taken for the value", taken)
    if weights.shape[-1] == weights.shape[-2]:
        turned = _run(example, "context", {**known, "weights": np.swapaxes(weights, -1, -2)})
        yield Slip("mixed", "rows and columns of the weights are mixed up", turned)
    even = np.ones_like(weights)
    yield Slip("not weighed", "values are added up without weights",
               _run(example, "context", {**known, "weights": even}))  # fmt: skip
    yield Slip("averaged", "values are averaged without weights",
               _run(example, "context", {**known, "weights": even / even.shape[-1]}))  # fmt: skip


def _of_joined(example: Example, known: Steps) -> Iterator[Slip]:
    for slip, says, joined in _wrong_orders(known):
        yield Slip(slip, says, joined)


def _wrong_orders(known: Steps) -> Iterator[tuple[str, str, Array]]:
    """The heads side by side, in another order than theirs."""
    context = known["context"]
    by_word = np.swapaxes(context, 0, 1)
    n = len(by_word)
    says = "the heads are concatenated in the wrong order"
    yield "heads' order", says, by_word[:, ::-1].reshape(n, -1)
    yield "heads' order", f"{says}, number by number", np.moveaxis(context, 0, -1).reshape(n, -1)


def _of_output(example: Example, known: Steps) -> Iterator[Slip]:
    weights = weights_of(example)
    joined = known["concatenated" if example.heads > 1 else "context"]
    if example.heads > 1:
        for slip, says, turned in _wrong_orders(known):
            made = _run(example, "output", {**known, "concatenated": turned})
            yield Slip(slip, says, made)
    if weights["w_o"].shape[0] == weights["w_o"].shape[1]:
        turned_o = {**weights, "w_o": weights["w_o"].mT}
        yield Slip("transposed", "W_O is transposed", _run(example, "output", known, turned_o))
        yield Slip("no W_O", "W_O is forgotten", joined)
    if "b_o" in weights:
        none = {n: v for n, v in weights.items() if n != "b_o"}
        yield Slip("no bias", "b_o is forgotten", _run(example, "output", known, none))


def _misplaced(step: str, right: Array) -> Iterator[Slip]:
    """The right number of another place."""
    if right.ndim < 2:
        return
    if right.shape[-1] == right.shape[-2]:
        turned = np.swapaxes(right, -1, -2)
        yield Slip("mixed", f"rows and columns of {step} are mixed up", turned)
    axis = -3 if step == "weighted_values" else -2
    for by, called in ((-1, "next"), (1, "previous")):
        if right.shape[axis] > 1:
            says = f"the {called} row is taken for this one"
            yield Slip("neighbour's row", says, np.roll(right, by, axis))


def _of_another_word(step: str, known: Steps) -> Iterator[Slip]:
    """The step of the word before or after, where each word has its own."""
    found = re.fullmatch(r"step (\d+)/(.+)", step)
    if found is None:
        return
    for t in (int(found[1]) - 1, int(found[1]) + 1):
        other = f"step {t}/{found[2]}"
        if other in known and known[other].shape == known[step].shape:
            says = f"the {found[2]} of word {t} is taken for this one"
            yield Slip(says, says, known[other])


def _rounded(example: Example, step: str, known: Steps) -> Iterator[Slip]:
    """The step made of numbers that were rounded before."""
    stage = _stage(example, step)
    if stage is None or stage.gathers or step in example.given:
        return  # of what is gathered, each row has its own
    parts = [n for n in stage.needs if n in known]
    for digits in (3, 2, 1, 0):
        cut = {name: np.round(known[name], digits) for name in parts}
        if all(np.array_equal(cut[name], known[name]) for name in parts):
            continue
        named = " and ".join(parts) if len(parts) < 3 else "the numbers"
        said = f"{named} are rounded to {digits} digits before"
        yield Slip("rounded early", said, _run(example, step, {**known, **cut}))


def _stage(example: Example, step: str) -> Stage | None:
    return next((s for s in stages(example) if s.name == step), None)


def _run(example: Example, step: str, known: Steps, weights: Known | None = None) -> Array:
    """The step by the package's own function, of what is known."""
    stage = _stage(example, step)
    assert stage is not None
    weights = weights_of(example) if weights is None else weights
    steps = {n: torch.from_numpy(np.ascontiguousarray(known[n])) for n in stage.needs if n in known}
    made: Array = stage.run({**weights, **steps}).numpy()
    return made


def _soft(scores: Array, mask: torch.Tensor | None) -> Array:
    made: Array = weigh(torch.from_numpy(np.ascontiguousarray(scores)), mask).numpy()
    return made
