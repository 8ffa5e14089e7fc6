"""The average of a sentence's word vectors."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.recurrent.simple import note_input
from regard.vectors.words import average
from regard.worked.example import Example
from regard.worked.stage import Known, Stage, Wrongly, weights_of


def run(example: Example) -> None:
    """The mean of the vectors."""
    note_input(weights_of(example)["x"])
    average(example.given["x"])


def stages(example: Example) -> list[Stage]:
    """``average``."""
    width = example.given["x"].shape[-1]

    def mean(known: Known) -> Tensor:
        return torch.from_numpy(average(known["input"].numpy()))

    return [
        Stage(
            "average",
            ("input",),
            mean,
            slips=(
                Wrongly("the sum is not divided", lambda k: k["input"].sum(0)),
                Wrongly(
                    f"the sum is divided by {width}, the width of a vector",
                    lambda k: k["input"].sum(0) / width,
                ),
                Wrongly("the largest number is taken for the mean", lambda k: k["input"].amax(0)),
            ),
        )
    ]
