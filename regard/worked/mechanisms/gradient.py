"""The gradient of softmax: how its weights move with its scores, and a loss with them."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention import weigh
from regard.attention.gradient import softmax_gradient, softmax_jacobian
from regard.record import note
from regard.worked.example import Example
from regard.worked.stage import Known, Stage, Wrongly, weights_of


def run(example: Example) -> None:
    """The weights, their Jacobian and, with an upstream gradient, that of the scores."""
    known = weights_of(example)
    scores = torch.from_numpy(example.given["scores"])
    axes = ("query", "key")
    note("scores", scores, axes=axes, formula="given", meaning="As given.")
    weights = weigh(scores)
    softmax_jacobian(weights)
    if "upstream" in known:
        meaning = "How the loss moves with each weight."
        note("upstream", known["upstream"], axes=axes, formula="g = dL/da", meaning=meaning)
        softmax_gradient(weights, known["upstream"])


def stages(example: Example) -> list[Stage]:
    """Weights, ``jacobian``, ``score_gradient``."""

    def raised(known: Known) -> Tensor:
        return known["scores"].exp()

    def diagonal(known: Known) -> Tensor:
        a = known["weights"]
        return torch.diag_embed(a * (1 - a))

    def unsigned(known: Known) -> Tensor:
        a = known["weights"]
        outer = a.unsqueeze(-1) * a.unsqueeze(-2)
        return outer + torch.diag_embed(a - 2 * a * a)

    alone = Wrongly("softmax is taken of each score alone, 1 / (1 + e^-score)",
                    lambda k: k["scores"].sigmoid())  # fmt: skip
    bare = Wrongly("the exponentials are not divided by their sum", raised)
    own = Wrongly("a weight is taken to move with its own score alone", diagonal)
    sign = Wrongly("the minus sign of -a_j a_k is forgotten", unsigned)
    partial = Wrongly(
        "the gradient is only multiplied by the weights", lambda k: k["upstream"] * k["weights"]
    )
    own_part = Wrongly(
        "a weight is taken to move with its own score alone",
        lambda k: k["upstream"] * k["weights"] * (1 - k["weights"]),
    )
    made = [
        Stage("weights", ("scores",), lambda k: weigh(k["scores"]), slips=(alone, bare)),
        Stage("jacobian", ("weights",), lambda k: softmax_jacobian(k["weights"]),
              slips=(own, sign)),
    ]  # fmt: skip
    if "upstream" in example.given:
        gradient = Stage("score_gradient", ("weights", "upstream"),
                         lambda k: softmax_gradient(k["weights"], k["upstream"]),
                         slips=(partial, own_part))  # fmt: skip
        made.append(gradient)
    return made
