"""The matrix that each attention's heads are multiplied with, found by what it is given."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import ModelError
from regard.inside.measures.outputs import output_matrices
from tests.inside.tiny import inputs, tiny


def given_to(family: str) -> dict[str, object]:
    given = inputs(family, lengths=(5,))
    given.pop("attention_mask")
    return dict(given)


def test_matrices() -> None:
    model = tiny("GPT2")
    found = output_matrices(model, lambda: model(**given_to("GPT2")))
    assert list(found) == ["h.0.attn", "h.1.attn"]
    own = model.h[1].attn.c_proj.weight.detach().double().numpy()  # (in, out)
    assert np.array_equal(found["h.1.attn"].reshape(24, 24), own)


@pytest.mark.filterwarnings("ignore")
def test_attention_that_shows_no_values() -> None:
    model = tiny("Bloom")
    with pytest.raises(ModelError, match="no matrix is given what its heads mixed"):
        output_matrices(model, lambda: model(**given_to("Bloom")))
