"""Stages: what the modules compute is what the stages make of it, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from regard.trace import Step
from regard.worked.stages import alone
from tests.worked.cases import Variant, called, generated, replayed, variants


@pytest.mark.parametrize("variant", variants(), ids=called)
def test_each_stage_makes_the_step_that_the_module_made(variant: Variant) -> None:
    for seed in range(3):
        replayed(generated(variant, seed))


def test_a_step_of_a_batch_of_one_text_stands_alone() -> None:
    step = alone(
        Step("weights", np.ones((1, 1, 5)), axes=("batch", "query", "key"), scope="layer 0/step 2")
    )
    assert (step.path, step.axes, step.shape) == ("step 2/weights", ("key",), (5,))
    whole = Step("weights", np.ones((2, 5)), axes=("query", "key"))
    assert alone(whole) is whole
