"""What each head brings from each word adds up to what attention puts out."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inside.anatomy.cases import ROW, dissected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["GPT2", "Llama", "GPTNeoX"])
def test_heads_and_words_sum_to_the_output(family: str) -> None:
    found, _, _ = dissected(family)
    for part in found.sublayers:
        if part.kind != "attention":
            continue
        assert part.heads is not None
        heads, keys = part.heads.weights.shape
        assert part.heads.weights.sum(-1) == pytest.approx(np.ones(heads), abs=1e-6)
        assert (part.heads.weights[:, ROW + 1 :] == 0).all()  # causal
        each = part.heads.each()
        assert each.shape == (heads, keys, len(part.adds))
        assert np.allclose(each.sum((0, 1)) + part.heads.bias, part.adds, atol=1e-5)
        direction = np.linspace(-1, 1, len(part.adds))
        assert np.allclose(part.heads.along(direction), each @ direction)


def test_heads_that_share_values() -> None:
    found, model, _ = dissected("Llama")
    heads = found.layers[0].sublayers[0].heads
    assert heads is not None
    assert len(heads.values) == model.config.num_key_value_heads == 2
    assert np.array_equal(heads.value_of_head[0], heads.value_of_head[1])
    assert not np.array_equal(heads.value_of_head[1], heads.value_of_head[2])


@pytest.mark.filterwarnings("ignore")
def test_what_cannot_be_told_apart_is_none() -> None:
    found, _, _ = dissected("GPTJ")
    assert [part.heads for part in found.sublayers] == [None] * 4
