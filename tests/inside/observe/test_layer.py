"""An observed layer: what it knows of itself."""

from __future__ import annotations

import pytest

from tests.inside.observe.seeing import seen
from tests.inside.tiny import inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


def test_layers_know_themselves() -> None:
    observation, _ = seen(tiny("Llama"), inputs("Llama"))
    layer = observation.layers[1]
    assert (layer.name, layer.kind, layer.heads, layer.key_heads) == (
        "layers.1.self_attn",
        "self",
        4,
        2,
    )
    assert layer.query.shape == (2, 4, 9, 8)
    rule = layer.item(1).rule
    assert rule.mask is not None
    assert (rule.mask.causal, rule.mask.allowed) == (True, None), "a rule, not n² booleans"
    sliding, _ = seen(tiny("Mistral"), inputs("Mistral"))
    rule = sliding.layers[0].item(1).rule
    assert rule.mask is not None
    assert (rule.mask.causal, rule.mask.before, rule.mask.allowed) == (True, 3, None)
    assert repr(observation) == "Observation(2 self)"
