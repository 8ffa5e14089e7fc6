"""Observing Hugging Face models: the weights of eager attention, and nothing changed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.attention import StoredMap
from regard.errors import RegardError
from tests.inside.observe.seeing import compare, seen
from tests.inside.tiny import inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

OUTSIDE = ("Bloom", "GPTJ", "DebertaV2")


@torch.no_grad()
def test_the_same_weights_for_two_values_are_one_layer() -> None:
    given, model = inputs("DiffLlama"), tiny("DiffLlama")
    eager = tiny("DiffLlama", "eager")(**given, output_attentions=True)
    observation, _ = seen(model, given)
    assert compare("DiffLlama", observation, eager, given) < 1e-6


@pytest.mark.parametrize("family", OUTSIDE)
@torch.no_grad()
def test_a_family_outside_the_registry_says_so(family: str) -> None:
    given, model = inputs(family), tiny(family)
    expected = model(**given, output_attentions=True).attentions
    before = model(**given)
    message = "the weights of .* are kept"
    with (
        pytest.warns(UserWarning, match=message) as warned,
        regard.observe(model) as observation,
    ):
        output = model(**given)
    assert warned[0].filename == __file__
    assert torch.equal(output[0], before[0])
    assert output.keys() == before.keys()
    assert len(observation) == 2
    for layer in range(2):
        got = observation.map(layer, 1, batch=0)
        assert isinstance(got, StoredMap)
        assert torch.equal(got.dense(), expected[layer][0, 1])
        entropy = observation.statistics(layer, entropy=True).entropy
        assert entropy is not None
        assert torch.allclose(entropy[1], got.entropy(), atol=1e-5)
    # DeBERTa's padded queries spread evenly over all keys: which are padding is not to be seen.
    n = 9 if family == "DebertaV2" else 6
    assert torch.equal(observation.map(0, 0, batch=1).dense(), expected[0][1, 0, :n, :n])


@pytest.mark.parametrize("family", ["Bloom", "GPTJ"])
@pytest.mark.filterwarnings("ignore:the weights of")
@torch.no_grad()
def test_generated_steps_outside_the_registry(family: str) -> None:
    model = tiny(family, head="ForCausalLM")
    with regard.observe(model) as steps:
        text = model.generate(
            **inputs(family, (5,)), max_new_tokens=6, min_new_tokens=6, do_sample=False
        )
    whole, _ = seen(model, {"input_ids": text[:, :-1]})
    assert steps[1, 2].shape == (10, 10)
    assert torch.allclose(steps[1, 2].dense(), whole[1, 2].dense(), atol=1e-5)
    assert torch.allclose(steps[1, 2].dense().sum(-1), torch.ones(10))


@torch.no_grad()
def test_what_queries_and_keys_do_not_explain_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that does more than it is told: its weights are not known."""
    library = pytest.importorskip("transformers.modeling_utils")
    functions = library.ALL_ATTENTION_FUNCTIONS
    sdpa = functions["sdpa"]

    def more(*args: Any, **kwargs: Any) -> Any:
        output, weights = sdpa(*args, **kwargs)
        return output * 0.9, weights

    monkeypatch.setitem(functions._global_mapping, "sdpa", more)
    with pytest.raises(
        RegardError, match=r"not seen: layers\.0\.self_attn.* what its kernel mixed"
    ):
        seen(tiny("Llama"), inputs("Llama"))


def test_nothing_is_silently_empty() -> None:
    model = tiny("Bert")
    with pytest.raises(RegardError, match="BertModel was not called"), regard.observe(model):
        pass
    with pytest.raises(RegardError, match=r"layers=\[7\], but BertModel has 2"):
        seen(model, inputs("Bert"), layers=[7])
    with pytest.raises(RegardError, match="this layer has 3, got 5"):
        seen(model, inputs("Bert"), heads=[5])
    with pytest.raises(RegardError, match="no attention that can be observed"):
        seen(torch.nn.Linear(2, 2), {})
    with pytest.raises(RegardError, match=r"wants a torch\.nn\.Module, got str"):
        seen("bert", {})
    assert model.config._attn_implementation == "sdpa"
