"""One layer: what it adds, in which order, and where its norms stand."""

from __future__ import annotations

import numpy as np
import pytest

from regard.inside.anatomy.layer import ATTENTION, FEEDFORWARD
from tests.inside.anatomy.cases import dissected


def test_norm_before() -> None:
    layer = dissected("Llama")[0].layers[1]
    attention, feedforward = layer.sublayers
    assert (attention.kind, feedforward.kind) == (ATTENTION, FEEDFORWARD)
    assert attention.name == "model.layers.1.self_attn.o_proj"
    assert attention.norm_before is not None
    assert np.allclose(attention.after, layer.given + attention.adds)
    assert np.allclose(feedforward.made, layer.made, atol=1e-6)
    assert not np.allclose(attention.read, layer.given)


def test_norms_of_what_is_put_out() -> None:
    attention, feedforward = dissected("Olmo2")[0].layers[0].sublayers
    assert attention.norm_before is None
    assert attention.norm_out is not None
    assert attention.heads is not None
    assert np.allclose(attention.norm_out(attention.heads.total), attention.adds, atol=1e-5)
    assert feedforward.name == "model.layers.0.mlp.down_proj"


@pytest.mark.filterwarnings("ignore")
def test_side_by_side_two_norms_of_the_same_vector() -> None:
    layer = dissected("GPTNeoX")[0].layers[0]
    attention, feedforward = layer.sublayers
    assert np.allclose(feedforward.before, layer.given + attention.adds)
    assert attention.norm_before is not feedforward.norm_before
    assert np.allclose(layer.given + attention.adds + feedforward.adds, layer.made, atol=1e-5)


def test_a_factor() -> None:
    parts = dissected("Granite")[0].sublayers
    assert [part.factor for part in parts] == pytest.approx([0.3] * 4, rel=1e-4)
