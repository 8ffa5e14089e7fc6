"""Value zeroing against the definition: each value set to zero in turn, the layer run again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.errors import ModelError
from regard.inside.measures import zeroing
from regard.inside.measures.measure import measured_maps
from tests.inside.tiny import inputs, tiny

N = 9
PLACES = {
    "Bert": ("encoder.layer.{}", "attention.self.value"),
    "Llama": ("layers.{}", "self_attn.v_proj"),
}


def reference(model: nn.Module, given: dict[str, Any], family: str, layer: int) -> np.ndarray:
    """(n, n) in NumPy, from a run of the whole model for each word whose value is zero."""
    name, value = PLACES[family]
    module = model.get_submodule(name.format(layer))
    seen: list[np.ndarray] = []

    def keep(_: nn.Module, args: Any, output: Any) -> None:
        made = output[0] if isinstance(output, tuple) else output
        seen.append(made[0].double().numpy())

    hook = module.register_forward_hook(keep)
    with torch.no_grad():
        model(**given)
        for j in range(N):

            def zero(_: nn.Module, args: Any, made: Tensor, j: int = j) -> Tensor:
                changed = made.clone()
                changed[:, j] = 0
                return changed

            inner = module.get_submodule(value).register_forward_hook(zero)
            model(**given)
            inner.remove()
    hook.remove()
    own, others = seen[0], np.stack(seen[1:], 1)  # (n, d), (n, keys, d)
    sizes = np.linalg.norm(own, axis=-1)[:, None] * np.linalg.norm(others, axis=-1)
    found = 1 - (own[:, None] * others).sum(-1) / sizes
    shares: np.ndarray = found / found.sum(-1, keepdims=True)
    return shares


@pytest.mark.parametrize("family", ["Bert", "Llama"])
def test_against_the_definition(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zeroing, "NUMBERS", 4 * N * 32)  # a few copies at a time
    given = inputs(family, lengths=(N,))
    given.pop("attention_mask")
    model = tiny(family)
    maps = measured_maps(model, lambda: model(**given), "value-zeroing")
    assert list(maps) == [(0, 0), (1, 0)]
    for layer in (0, 1):
        expected = reference(model, given, family, layer)
        assert maps[layer, 0].dense().double().numpy() == pytest.approx(expected, abs=1e-4)
    assert not any(m._forward_hooks for m in model.modules())


def test_a_layer_that_runs_several_times_is_refused() -> None:
    given = inputs("Albert", lengths=(N,))
    given.pop("attention_mask")
    model = tiny("Albert")
    with pytest.raises(ModelError, match="runs several times in one pass"):
        measured_maps(model, lambda: model(**given), "value-zeroing")
