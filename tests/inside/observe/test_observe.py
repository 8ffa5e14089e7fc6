"""Observing Hugging Face models: the weights of eager attention, and nothing changed."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.attention import StoredMap
from regard.errors import RegardError
from regard.inside.observe.observation import Observation
from tests.inside.tiny import BOTH, inputs, tiny

REGISTRY = ["Bert", "Roberta", "DistilBert", "Albert", "GPT2", "OPT", "Llama", "Mistral", "Qwen2"]
REGISTRY += ["Gemma2", "T5", "Bart", "Marian", "Whisper", "ViT"]
OUTSIDE = ("Bloom", "GPTJ", "DebertaV2")

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


@torch.no_grad()
def seen(model: Any, given: dict[str, Tensor], **options: Any) -> tuple[Observation, Any]:
    with regard.observe(model, **options) as observation:
        output = model(**given)
    return observation, output


def fail(output: Any) -> None:
    raise ZeroDivisionError


def real(family: str, given: dict[str, Tensor], batch: int, kind: str, n: int) -> Tensor:
    """The positions of an item that are no padding."""
    mask = given.get("attention_mask")
    if mask is None or kind == "decoder":
        return torch.arange(n)
    return mask[batch].nonzero().flatten()


def compare(family: str, observation: Any, eager: Any, given: dict[str, Tensor]) -> float:
    """The largest difference from eager's weights, all layers, heads and batch items."""
    kinds = {"self": "attentions"}
    if family in BOTH:
        kinds = {
            "encoder": "encoder_attentions",
            "decoder": "decoder_attentions",
            "cross": "cross_attentions",
        }
    worst, count = 0.0, 0
    for kind, field in kinds.items():
        for layer, weights in enumerate(eager[field]):
            for batch, head in torch.cartesian_prod(
                torch.arange(weights.shape[0]), torch.arange(weights.shape[1])
            ).tolist():
                rows = real(family, given, batch, kind, weights.shape[2])
                columns = real(family, given, batch, kind, weights.shape[3])
                if kind == "cross":
                    rows = torch.arange(weights.shape[2])
                expected = weights[batch, head][rows][:, columns]
                got = observation.map(layer, head, batch, kind).dense()
                assert got.shape == expected.shape
                worst = max(worst, float((got - expected).abs().max()))
            count += 1
    assert count == len(observation)
    return worst


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


@pytest.mark.parametrize("family", ["GPT2", "OPT", "Llama", "Mistral", "Qwen2", "Gemma2"])
@pytest.mark.parametrize("left", [False, True], ids=["alone", "padded"])
@torch.no_grad()
def test_generated_steps_are_one_map(family: str, left: bool) -> None:
    model = tiny(family, head="ForCausalLM")
    given = inputs(family, (5, 3) if left else (5,), left=True)
    with regard.observe(model) as steps:
        text = model.generate(**given, max_new_tokens=6, min_new_tokens=6, do_sample=False)
    mask = torch.nn.functional.pad(given["attention_mask"], (0, 5), value=1)
    position = (mask.cumsum(-1) - 1).clamp_min(0)
    extra = {} if family == "OPT" else {"position_ids": position}
    whole, _ = seen(model, {"input_ids": text[:, :-1], "attention_mask": mask} | extra)
    for layer in range(2):
        for batch, n in enumerate((10, 8) if left else (10,)):
            one, other = (o.map(layer, 2, batch) for o in (steps, whole))
            assert one.shape == other.shape == (n, n)
            assert torch.allclose(one.dense(), other.dense(), atol=1e-5)


@pytest.mark.parametrize("family", ["T5", "Bart", "Marian"])
@torch.no_grad()
def test_generated_translations_are_one_map(family: str) -> None:
    model = tiny(family, head="ForSeq2SeqLM")
    given = inputs(family)
    del given["decoder_input_ids"]
    with regard.observe(model) as steps:
        text = model.generate(
            **given, max_new_tokens=6, min_new_tokens=6, do_sample=False, num_beams=1
        )
    whole, _ = seen(model, given | {"decoder_input_ids": text[:, :-1]})
    for kind, shape in (("encoder", (6, 6)), ("decoder", (6, 6)), ("cross", (6, 6))):
        one, other = (o.map(1, 1, 1, kind) for o in (steps, whole))
        assert one.shape == other.shape == shape
        assert torch.allclose(one.dense(), other.dense(), atol=1e-5)


@torch.no_grad()
def test_beams_make_no_one_map() -> None:
    model, given = tiny("Llama", head="ForCausalLM"), inputs("Llama", (5,))
    with pytest.raises(RegardError, match="num_beams=1"), regard.observe(model):
        model.generate(**given, max_new_tokens=9, min_new_tokens=9, num_beams=3)
    assert model.config._attn_implementation == "sdpa"


@torch.no_grad()
def test_a_static_cache_is_refused() -> None:
    model, given = tiny("Llama", head="ForCausalLM"), inputs("Llama", (5,))
    with pytest.raises(RegardError, match="static cache"), regard.observe(model):
        model.generate(
            **given, max_new_tokens=4, cache_implementation="static", disable_compile=True
        )


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


def test_of_two_texts_the_last_is_kept() -> None:
    model = tiny("Bart")
    with torch.no_grad(), regard.observe(model) as observation:
        model(**inputs("Bart", (5, 5)))
        model(**inputs("Bart"))
    fresh, _ = seen(model, inputs("Bart"))
    for kind in ("encoder", "decoder", "cross"):
        one, other = (o.map(1, 0, 1, kind).dense() for o in (observation, fresh))
        assert torch.equal(one, other)


@torch.no_grad()
def test_threads_see_their_own_runs() -> None:
    model = tiny("Llama")
    texts = [inputs("Llama", (n,)) for n in (3, 4, 5, 6, 7, 8)]
    expected = [seen(model, text)[0][1, 2].dense() for text in texts]
    got: dict[int, Tensor] = {}
    start = threading.Barrier(len(texts))

    def run(i: int) -> None:
        with torch.no_grad(), regard.observe(model) as observation:
            start.wait(timeout=30)
            for _ in range(5):
                model(**texts[i])
        got[i] = observation[1, 2].dense()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(got) == len(texts)
    assert all(torch.equal(got[i], expected[i]) for i in got)
    assert model.config._attn_implementation == "sdpa"
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


def test_another_thread_is_not_seen() -> None:
    model = tiny("Bert")
    other = threading.Thread(target=model, kwargs=inputs("Bert"))
    with regard.observe(model) as observation:
        other.start()
        other.join(timeout=60)
        assert len(observation) == 0
        model(**inputs("Bert", (4,)))
    assert observation[0, 0].shape == (4, 4)


def test_nested_observations_of_one_model() -> None:
    model = tiny("Bert")
    with regard.observe(model) as outer:
        with regard.observe(model, heads=[1]) as inner:
            model(**inputs("Bert"))
        model(**inputs("Bert"))
    assert torch.equal(outer[1, 1].dense(), inner[1, 1].dense())
    assert model.config._attn_implementation == "sdpa"
