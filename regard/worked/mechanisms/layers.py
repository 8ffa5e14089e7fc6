"""The parts of a Transformer's layer besides attention: layer norm, feed-forward, residual."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regard.models.layers import FeedForward, add
from regard.models.norm import LayerNorm, moments, standardised
from regard.record import note
from regard.recurrent.simple import note_input
from regard.worked.example import Example
from regard.worked.mechanisms.module import filled
from regard.worked.stage import Known, Stage, Wrongly, weights_of


def run(example: Example) -> None:
    """Compute the part with its module, every value noted."""
    known = weights_of(example)
    note_input(known["x"])
    if example.mechanism == "layer-norm":
        norm(known, "", example.option("epsilon"))(known["x"])
    elif example.mechanism == "feed-forward":
        feedforward(known)(known["x"])
    else:
        note(
            "sublayer",
            known["sublayer"],
            axes=("position", "width"),
            formula="given",
            meaning="What attention or feed-forward made of the input.",
        )
        added = add(known["x"], known["sublayer"])
        if example.option("norm") == "post":
            norm(known, "", example.option("epsilon"))(added)


def stages(example: Example) -> list[Stage]:
    """The steps of the part."""
    if example.mechanism == "layer-norm":
        return norm_stages("input", "", example.option("epsilon"))
    if example.mechanism == "feed-forward":
        return feedforward_stages("input")
    made = [residual_stage("input", "sublayer")]
    if example.option("norm") == "post":
        made += norm_stages("residual", "", example.option("epsilon"))
    return made


def norm(known: Known, which: str, epsilon: float) -> LayerNorm:
    """The layer norm with gamma and beta of this number, or without a number."""
    width = known["x"].shape[-1]
    one = known["x"].new_ones(width)
    weights = {"weight": known.get(f"gamma{which}", one), "bias": known.get(f"beta{which}")}
    return filled(LayerNorm(width, eps=epsilon), weights)


def feedforward(known: Known) -> FeedForward:
    """The feed-forward layer with the weights of the example."""
    weights = {"inner.weight": known["w_1"].mT, "inner.bias": known.get("b_1")}
    weights |= {"outer.weight": known["w_2"].mT, "outer.bias": known.get("b_2")}
    return filled(FeedForward(*known["w_1"].shape), weights)


def norm_stages(source: str, which: str, epsilon: float) -> list[Stage]:
    """Layer norm of the step ``source``."""
    gamma, beta = f"gamma{which}", f"beta{which}"

    def standard(known: Known) -> Tensor:
        return standardised(known[source], known["mean"], known["variance"], epsilon)

    def stretched(known: Known) -> Tensor:
        return known["standardised"] * known.get(gamma, 1) + known.get(beta, 0)

    def over_positions(known: Known) -> Tensor:
        return standardised(known[source].mT, *moments(known[source].mT), epsilon).mT

    def by_variance(known: Known) -> Tensor:
        centred = known[source] - known["mean"].unsqueeze(-1)
        return centred / (known["variance"] + epsilon).unsqueeze(-1)

    return [
        Stage("mean", (source,), lambda k: moments(k[source])[0]),
        Stage(
            "variance",
            (source, "mean"),
            lambda k: (k[source] - k["mean"].unsqueeze(-1)).square().mean(-1),
            slips=(
                Wrongly("the variance is divided by the count less 1", lambda k: k[source].var(-1)),
                Wrongly(
                    "the standard deviation is taken for the variance",
                    lambda k: k["variance"].sqrt(),
                ),
            ),
        ),
        Stage(
            "standardised",
            (source, "mean", "variance"),
            standard,
            slips=(
                Wrongly("it is divided by the variance, not by its root", by_variance),
                Wrongly(
                    "the mean is not subtracted",
                    lambda k: standardised(k[source], k["mean"] * 0, k["variance"], epsilon),
                ),
                Wrongly("the norm is taken over the positions, not in each vector", over_positions),
                Wrongly(
                    "the variance is divided by the count less 1",
                    lambda k: standardised(k[source], k["mean"], k[source].var(-1), epsilon),
                ),
            ),
        ),
        Stage("normalised", ("standardised",), stretched, weights=(gamma, beta)),
    ]


def feedforward_stages(source: str) -> list[Stage]:
    """Feed-forward of the step ``source``."""

    def inner(known: Known) -> Tensor:
        made: Tensor = feedforward(known).inner(known[source])
        return made

    def outer(known: Known, of: Tensor) -> Tensor:
        made: Tensor = feedforward(known).outer(of)
        return made

    other: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
        ("a sigmoid", torch.sigmoid),
        ("tanh", torch.tanh),
    )
    taken = [Wrongly(f"{name} is taken for max(0, …)", _of_inner(f)) for name, f in other]
    forgotten = Wrongly("max(0, …) is forgotten", lambda k: outer(k, k["inner"]))
    return [
        Stage("inner", (source,), inner, weights=("w_1", "b_1")),
        Stage("activated", ("inner",), lambda k: k["inner"].relu(),
              slips=(Wrongly("max(0, …) is forgotten", lambda k: k["inner"]), *taken)),
        Stage("output", ("activated",), lambda k: outer(k, k["activated"]),
              weights=("w_2", "b_2"), slips=(forgotten,)),
    ]  # fmt: skip


def _of_inner(f: Callable[[Tensor], Tensor]) -> Callable[[Known], Tensor]:
    return lambda known: f(known["inner"])


def residual_stage(source: str, sublayer: str) -> Stage:
    """The sum of a sublayer's input and output."""
    return Stage(
        "residual",
        (source, sublayer),
        lambda k: add(k[source], k[sublayer]),
        slips=(Wrongly("the input is not added", lambda k: k[sublayer]),),
    )
