"""From the token to the first layer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.inside.anatomy.cases import ROW, dissected


def test_word_and_position() -> None:
    found, model, given = dissected("GPT2")
    stem, word = found.stem, int(given["input_ids"][0, ROW])
    assert list(stem.parts) == ["word", "position"]
    assert stem.parts["word"].tolist() == model.transformer.wte.weight[word].double().tolist()
    assert stem.parts["position"].tolist() == model.transformer.wpe.weight[ROW].double().tolist()
    assert stem.scale == 1
    assert np.allclose(stem.total, stem.made, atol=1e-6)


def test_a_word_type_and_a_norm() -> None:
    found, _, _ = dissected("Bert", "Model")
    assert list(found.stem.parts) == ["word", "position", "type"]
    assert np.allclose(found.stem.maps[0](found.stem.total), found.stem.made, atol=1e-5)


def test_a_scale() -> None:
    assert dissected("Granite")[0].stem.scale == pytest.approx(3)
    gemma, model, _ = dissected("Gemma")
    assert gemma.stem.scale in (1, pytest.approx(math.sqrt(model.config.hidden_size)))
    assert list(gemma.stem.parts) == ["word"]


@pytest.mark.filterwarnings("ignore")
def test_a_matrix_between() -> None:
    """ALBERT's word vectors are narrower than its layers."""
    found, _, _ = dissected("Albert", "Model")
    x = found.stem.total
    assert len(x) == 16
    for step in found.stem.maps:
        x = step(x)
    assert np.allclose(x, found.stem.made, atol=1e-5)
