"""The way of one word, in models of many kinds: the parts add up to what the model computes."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from regard.errors import ModelError
from regard.inside.anatomy.anatomy import dissect
from tests.inside.anatomy.cases import ROW, dissected
from tests.inside.tiny import tiny

LAYOUTS = {
    "GPT2": "before",
    "OPT": "before",
    "Llama": "before",
    "Qwen2": "before",
    "Mistral": "before",
    "Gemma": "before",
    "Olmo2": "before",
    "Granite": "before",
    "Mixtral": "before",
    "Phi3": "before",
    "Bloom": "before",
    "GPTNeoX": "beside",
    "GPTJ": "beside",
    "Falcon": "beside",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("family", "layout"), LAYOUTS.items())
def test_the_parts_add_up_to_the_models_own_scores(family: str, layout: str) -> None:
    found, model, given = dissected(family)
    assert found.layout == layout
    assert found.difference < 1e-6
    x = found.stem.total
    for step in found.stem.maps:
        x = step(x)
    assert np.allclose(x, found.layers[0].given, atol=1e-5)
    for part in found.sublayers:
        x = x + part.adds
    for step in found.ending.maps:
        x = step(x)
    assert found.ending.scorer is not None
    with torch.no_grad():
        own = model(**given).logits[0, ROW].double().numpy()
    assert np.allclose(found.ending.scorer(x), own, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["Bert", "DistilBert", "Albert", "Roberta"])
def test_a_norm_after_each_sum(family: str) -> None:
    found, model, given = dissected(family, "Model")
    assert found.layout == "after"
    assert len(found.layers) == model.config.num_hidden_layers
    x = found.layers[0].given
    for part in found.sublayers:
        assert part.norm_after is not None
        x = part.norm_after(x + part.adds)
    with torch.no_grad():
        own = model(**given).last_hidden_state[0, ROW].double().numpy()
    assert np.allclose(x, own, atol=1e-5)


@pytest.mark.parametrize("family", ["T5", "Bart", "Marian"])
def test_a_decoder_also_attends_to_the_source(family: str) -> None:
    found, model, given = dissected(family, "ForSeq2SeqLM")
    kinds = [part.kind for part in found.layers[0].sublayers]
    assert kinds == ["attention", "cross-attention", "feed-forward"]
    assert found.ending.scorer is not None
    with torch.no_grad():
        own = model(**given).logits[0, ROW].double().numpy()
    assert np.allclose(found.ending.scorer(found.ending.made), own, atol=1e-5)


def test_the_model_is_left_as_it_was() -> None:
    _, model, given = dissected("GPT2")
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    with torch.no_grad():
        assert torch.equal(model(**given).logits, tiny("GPT2", head="ForCausalLM")(**given).logits)


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_a_sum_is_refused() -> None:
    with pytest.raises(ModelError, match=r"what transformer\.attentions\.0 hands on is no sum"):
        dissected("XLM")
    with pytest.raises(ModelError, match="Sequential has no list of layers with attention"):
        dissect(nn.Sequential(nn.Linear(3, 3)), lambda: None, [1, 2], 0)
