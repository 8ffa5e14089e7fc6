"""An observation: maps, statistics and tokens of what was seen."""

from __future__ import annotations

import pytest
import torch

from regard.errors import RegardError
from tests.inside.observe.seeing import seen
from tests.inside.tiny import inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


def test_some_layers_and_heads_in_half_precision() -> None:
    given = inputs("Llama")
    everything, _ = seen(tiny("Llama"), given)
    some, _ = seen(tiny("Llama"), given, layers=[1], heads=[3, 0], dtype=torch.float16)
    assert [layer.number for layer in some] == [1]
    assert (some.layers[0].heads, some.layers[0].query.dtype) == (2, torch.float16)
    for head in (0, 3):
        assert torch.allclose(some[1, head].dense(), everything[1, head].dense(), atol=2e-3)
    with pytest.raises(RegardError, match="no layer 0"):
        some[0, 0]
    with pytest.raises(RegardError, match="head 1 was not observed"):
        some[1, 1]


def test_statistics_of_all_heads() -> None:
    observation, _ = seen(tiny("Llama"), inputs("Llama"))
    found = observation.statistics(1, batch=1, entropy=True, received=True, top=2)
    assert found.entropy is not None
    for head in range(4):
        assert torch.allclose(found.entropy[head], observation.map(1, head, 1).entropy(), atol=1e-5)


def test_tokens() -> None:
    words = [[f"{b}{i}" for i in range(9)] for b in "ab"]
    observation, _ = seen(tiny("Bert"), inputs("Bert"), tokens=words)
    assert observation.map(0, 0, 1).keys == words[1][:6]
    observation.tokens = [f"{i}" for i in range(5)]
    with pytest.raises(RegardError, match=r"one for each of 9 positions.*got 5"):
        observation[0, 0]
    two, _ = seen(tiny("Bart"), inputs("Bart"))
    two.tokens = {"encoder": words[0], "decoder": words[1][:7]}
    cross = two.map(0, 0, kind="cross")
    assert (cross.queries, cross.keys) == (words[1][:7], words[0])
    with pytest.raises(RegardError, match="kind='encoder'"):
        two[0, 0]
