"""Hugging Face models through the registry: the weights of eager attention, nothing changed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from tests.inside.observe.seeing import compare, seen
from tests.inside.tiny import inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

REGISTRY = ["Bert", "Roberta", "DistilBert", "Albert", "GPT2", "OPT", "Llama", "Mistral", "Qwen2"]

REGISTRY += ["Gemma2", "T5", "Bart", "Marian", "Whisper", "ViT"]


def fail(output: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize("left", [False, True], ids=["right", "left"])
@pytest.mark.parametrize("family", REGISTRY)
@torch.no_grad()
def test_weights_equal_those_of_eager_attention(family: str, left: bool) -> None:
    given = inputs(family, left=left)
    eager = tiny(family, "eager")(**given, output_attentions=True)
    observation, _ = seen(tiny(family), given)
    assert compare(family, observation, eager, given) < 1e-6


@pytest.mark.parametrize("family", REGISTRY)
@torch.no_grad()
def test_outputs_are_bitwise_the_same(family: str) -> None:
    given, model = inputs(family), tiny(family)
    before = model(**given)
    _, output = seen(model, given)
    after = model(**given)
    for one in (output, after):
        assert torch.equal(one[0], before[0])


@pytest.mark.parametrize("family", REGISTRY)
def test_the_fused_kernel_runs_where_the_family_has_it(family: str) -> None:
    model = tiny(family)
    used = model.config._attn_implementation
    assert used == ("eager" if family == "Gemma2" else "sdpa")
    with regard.observe(model):
        assert model.config._attn_implementation == used, "families choose masks by its name"
        model(**inputs(family))
    with pytest.raises(ZeroDivisionError), regard.observe(model):
        fail(model(**inputs(family)))
    assert model.config._attn_implementation == used
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@torch.no_grad()
def test_a_family_that_chooses_its_mask_by_the_name_of_its_attention() -> None:
    """DeepSeek's sparse attention masks all but a few keys if, by name, it runs sdpa or eager.

    Tokens 7 and 8 are seen by nobody and are no padding.
    """
    given, model = inputs("DeepseekV32", (9,)), tiny("DeepseekV32")
    eager = tiny("DeepseekV32", "eager")(**given, output_attentions=True)
    before = model(**given)[0]
    observation, output = seen(model, given)
    assert torch.equal(output[0], before)
    assert compare("DeepseekV32", observation, eager, given) < 1e-6
    assert int(observation[1, 0].dense()[-1].count_nonzero()) == model.config.index_topk


@torch.no_grad()
def test_another_attention_function_is_replaced_with_a_warning() -> None:
    library = pytest.importorskip("transformers")
    sdpa = library.AttentionInterface()["sdpa"]
    library.AttentionInterface.register("mine", sdpa)
    library.AttentionMaskInterface.register("mine", library.AttentionMaskInterface()["sdpa"])
    given, model = inputs("Llama"), tiny("Llama")
    expected, _ = seen(model, given)
    model.set_attn_implementation("mine")
    with (
        pytest.warns(UserWarning, match="'mine' cannot be observed: sdpa") as warned,
        regard.observe(model) as observation,
    ):
        model(**given)
    assert warned[0].filename == __file__
    assert model.config._attn_implementation == "mine"
    assert torch.equal(observation[1, 1].dense(), expected[1, 1].dense())


@pytest.mark.filterwarnings("ignore:the weights of")
@torch.no_grad()
def test_sinks_are_told_from_keys() -> None:
    """A sink takes part in softmax and is no key: rows sum to less than 1, and stay so."""
    given, model = inputs("GptOss"), tiny("GptOss", "eager")
    expected = model(**given, output_attentions=True).attentions
    observation, _ = seen(model, given)
    for layer, head in ((0, 1), (1, 3)):
        got, weights = observation[layer, head], expected[layer][0, head]
        assert torch.equal(got.dense(), weights)
        assert float(weights.sum(-1).min()) < 0.99
        found: Any = observation.statistics(layer, top=2, entropy=True, received=True, cells=3)
        assert torch.equal(found.top_weights[head], weights.topk(2).values)
        assert torch.equal(found.top_keys[head, :, 0], weights.argmax(-1))
        torch.testing.assert_close(found.received[head], weights.sum(0))
        torch.testing.assert_close(found.entropy[head], -(weights * weights.log()).nansum(-1))
        torch.testing.assert_close(found.pooled_max[head], got.pooled(3))
        torch.testing.assert_close(found.pooled_mean[head], got.pooled(3, "mean"))


@pytest.mark.filterwarnings("ignore:the weights of")
@torch.no_grad()
def test_sinks_past_the_sliding_window_of_generate() -> None:
    model = tiny("GptOss", "eager", head="ForCausalLM")
    assert model.config.sliding_window == 4
    with regard.observe(model) as steps:
        text = model.generate(
            **inputs("GptOss", (5,)), max_new_tokens=6, min_new_tokens=6, do_sample=False
        )
    whole, _ = seen(model, {"input_ids": text[:, :-1]})
    for layer in range(2):
        assert steps[layer, 2].shape == (10, 10)
        assert torch.allclose(steps[layer, 2].dense(), whole[layer, 2].dense(), atol=1e-5)
