"""The formula of a feed-forward network, told from its numbers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.inside.anatomy.feedforward import EXPERTS, formula_of
from regard.inside.anatomy.runs import ModuleRun
from tests.inside.anatomy.cases import dissected

FORMULAS = {
    "GPT2": "W_2 gelu_tanh(W_1 x + b_1) + b_2",
    "OPT": "W_2 relu(W_1 x + b_1) + b_2",
    "Llama": "W_2 (silu(W_g x) ⊙ (W_1 x))",
    "Phi3": "W_2 (silu(W_g x) ⊙ (W_1 x))",
    "Mixtral": EXPERTS,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("family", "formula"), FORMULAS.items())
def test_formulas(family: str, formula: str) -> None:
    assert dissected(family)[0].sublayers[1].inner == formula


def test_an_activation_that_nobody_knows() -> None:
    first, second = nn.Linear(3, 5), nn.Linear(5, 3)
    made = torch.randn(2, 5)
    runs = [
        ModuleRun("first", first, torch.randn(2, 3), made),
        ModuleRun("second", second, made.sin(), torch.randn(2, 3)),
    ]
    assert formula_of(runs[1], runs) == "W_2 act(W_1 x + b_1) + b_2"
