"""From the last layer to the scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.inside.anatomy.cases import ROW, dissected


def test_norm_and_scores() -> None:
    found, model, given = dissected("Llama")
    (norm,) = found.ending.maps
    assert np.allclose(norm(found.layers[-1].made), found.ending.made, atol=1e-5)
    scorer = found.ending.scorer
    assert scorer is not None
    with torch.no_grad():
        own = model(**given).logits[0, ROW].double().numpy()
    assert np.allclose(scorer(found.ending.made), own, atol=1e-5)
    direction, bias = scorer.direction(7)
    assert direction @ found.ending.made + bias == pytest.approx(own[7], abs=1e-5)


def test_a_factor_before_the_scores() -> None:
    """T5 divides by sqrt(d) where words read and words written share a table."""
    found, model, _ = dissected("T5", "ForSeq2SeqLM")
    assert found.ending.scorer is not None
    assert found.ending.scorer.factor == pytest.approx(model.config.d_model**-0.5)


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_linear_has_no_scorer() -> None:
    assert dissected("Bert", "ForMaskedLM")[0].ending.scorer is None
