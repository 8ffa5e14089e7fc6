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
def test_the_head_of_a_masked_model_is_a_matrix_an_activation_and_a_norm() -> None:
    anatomy, model, given = dissected("Bert", "ForMaskedLM")
    ending = anatomy.ending
    assert [type(step).__name__ for step in ending.maps] == [
        *("LinearMap", "HeldActivation", "HeldNorm")
    ]
    assert ending.curves == ["gelu"]
    assert ending.scorer is not None
    own = model(**given).logits[0, ROW].detach().double().numpy()
    np.testing.assert_allclose(ending.scorer(ending.made), own, atol=1e-5)
    x = anatomy.layers[-1].made
    for step in ending.maps:
        x = step(x)
    np.testing.assert_allclose(x, ending.made, atol=1e-5)
