"""Hugging Face models changed through the registry: what eager attention gives with that mask."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from tests.inside.tiny import BOTH, inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

REGISTRY = ["Bert", "Roberta", "DistilBert", "Albert", "GPT2", "OPT", "Llama", "Mistral", "Qwen2"]
REGISTRY += ["Gemma2", "T5", "Bart", "Marian", "Whisper", "ViT", "GPTNeoX", "Qwen3", "Electra"]
REGISTRY += ["Phi", "Olmo2"]
OUTSIDE = ["Bloom", "GPTJ", "DebertaV2"]


class EagerMask:
    """Eager attention's softmax with some pairs at −inf in one layer, by patching softmax itself:
    an implementation that shares nothing with ours."""

    def __init__(self, layer: int, pairs: list[tuple[int, int, int]]) -> None:
        self.layer, self.pairs, self.count = layer, pairs, 0

    def __call__(self, scores: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if scores.dim() == 4:
            if self.count == self.layer:
                scores = scores.clone()
                for head, query, key in self.pairs:
                    scores[:, head, query, key] = -torch.inf
            self.count += 1
        return self.softmax(scores, *args, **kwargs)

    softmax = staticmethod(torch.nn.functional.softmax)


def kind_of(family: str) -> str:
    return "encoder" if family in BOTH else "self"


@pytest.mark.parametrize("family", REGISTRY)
@torch.no_grad()
def test_masking_equals_eager_attention_with_that_mask(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = inputs(family, (9, 9))
    pairs = [(1, 5, 2), (1, 8, 6), (1, 8, 8)]
    model, eager = tiny(family), tiny(family, "eager")
    before = model(**given)[0]
    with regard.intervene(model) as hands:
        for _, query, key in pairs:
            hands.mask(layer=1, head=1, query=query, key=key, kind=kind_of(family))
        got = model(**given)[0]
    patched = EagerMask(1, pairs)
    monkeypatch.setattr(torch.nn.functional, "softmax", patched)
    expected = eager(**given)[0]
    monkeypatch.undo()
    assert patched.count >= 2
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(got, before, atol=1e-4)
    assert torch.equal(model(**given)[0], before)


@pytest.mark.parametrize("family", REGISTRY)
@torch.no_grad()
def test_an_empty_block_changes_no_bit(family: str) -> None:
    given, model = inputs(family), tiny(family)
    before = model(**given)[0]
    with regard.intervene(model):
        assert torch.equal(model(**given)[0], before)
    with regard.intervene(model) as hands:
        hands.remove(layer=0, head=0, kind=kind_of(family))
        assert not torch.equal(model(**given)[0], before)
    assert torch.equal(model(**given)[0], before)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@pytest.mark.parametrize("family", ["Bert", "Llama", "T5"])
@torch.no_grad()
def test_a_removed_head_is_one_whose_part_of_the_projection_is_zero(family: str) -> None:
    given, model, zeroed = inputs(family), tiny(family), tiny(family)
    name, width = {
        "Bert": ("encoder.layer.1.attention.output.dense", 8),
        "Llama": ("layers.1.self_attn.o_proj", 8),
        "T5": ("encoder.block.1.layer.0.SelfAttention.o", 8),
    }[family]
    zeroed.get_submodule(name).weight[:, 2 * width : 3 * width] = 0
    with regard.intervene(model) as hands:
        hands.remove(layer=1, head=2, kind=kind_of(family))
        torch.testing.assert_close(model(**given)[0], zeroed(**given)[0], rtol=1e-5, atol=1e-6)


@torch.no_grad()
def test_scaling_and_replacing() -> None:
    given, model = inputs("Llama"), tiny("Llama")
    with regard.intervene(model) as hands:
        hands.scale(layer=1, head=(0, 3), by=-0.5)
        scaled = model(**given)[0]
    with regard.intervene(model) as hands:
        hands.replace(layer=1, head=(0, 3), by=lambda context: -0.5 * context)
        assert torch.equal(model(**given)[0], scaled)
    with regard.intervene(model) as hands:
        hands.replace(layer=1, head=2, by=torch.zeros(8))
        zeros = model(**given)[0]
    with regard.intervene(model) as hands:
        hands.remove(layer=1, head=2)
        assert torch.equal(model(**given)[0], zeros)


@torch.no_grad()
def test_a_weight_of_zero_that_leaves_the_others() -> None:
    """renormalise=False: the row keeps its weights but one, and mixes less."""
    given, model = inputs("Qwen2", (9, 9)), tiny("Qwen2")
    with regard.intervene(model) as hands, regard.observe(model, values=True) as seen:
        hands.mask(layer=0, head=3, query=7, key=4, renormalise=False)
        model(**given)
    with regard.observe(model, values=True) as before:
        model(**given)
    expected = before.map(0, 3).dense()
    assert float(expected[7, 4]) > 0.01
    expected[7, 4] = 0
    torch.testing.assert_close(seen.map(0, 3).dense(), expected, rtol=1e-5, atol=1e-6)
    item = seen.layer(0).item(0)
    assert item.context is None or item.value is not None
    assert not torch.equal(seen.map(1, 0).dense(), before.map(1, 0).dense())


@torch.no_grad()
def test_observed_attention_is_that_of_the_changed_model() -> None:
    given, model = inputs("Bert", (9, 9)), tiny("Bert")
    with regard.observe(model) as outer, regard.intervene(model) as hands:
        hands.mask(layer=0, head=1, query=3, key=5)
        with regard.observe(model, statistics=True) as inner:
            model(**given)
    with regard.observe(model) as before:
        model(**given)
    for seen in (outer, inner):
        weights, old = seen[0, 1].dense(), before[0, 1].dense()
        assert float(weights[3, 5]) == 0
        rest = torch.cat((old[3, :5], torch.zeros(1), old[3, 6:]))
        torch.testing.assert_close(weights[3], rest / rest.sum())
        assert torch.equal(weights[4], old[4])


@pytest.mark.parametrize("family", ["GPT2", "Llama", "GPTNeoX", "Qwen2", "Mistral"])
@torch.no_grad()
def test_generate_with_a_cache_is_generate_without(family: str) -> None:
    model = tiny(family, head="ForCausalLM")
    ids = inputs(family, (6,))["input_ids"]
    options = {"max_new_tokens": 6, "do_sample": False, "pad_token_id": 0, "eos_token_id": None}
    plain = model.generate(ids, **options)
    written = {}
    for cache in (True, False):
        with regard.intervene(model) as hands:
            hands.mask(key=2)
            hands.mask(layer=1, head=0, query=(7, 9), key=(5, 6), renormalise=False)
            hands.remove(layer=0, head=1)
            written[cache] = model.generate(ids, use_cache=cache, **options)
    assert torch.equal(written[True], written[False])
    assert torch.equal(model.generate(ids, **options), plain)


@torch.no_grad()
def test_the_parts_of_an_encoder_decoder() -> None:
    given, model = inputs("Bart", (9, 9)), tiny("Bart")
    for kind, field in (("encoder", "encoder"), ("decoder", "decoder"), ("cross", "cross")):
        with regard.intervene(model) as hands, regard.observe(model) as seen:
            hands.mask(layer=1, head=0, query=5, key=3, kind=kind)
            model(**given)
        assert float(seen.map(1, 0, kind=field).dense()[5, 3]) == 0
        assert float(seen.map(0, 0, kind=field).dense()[5, 3]) > 0
    with regard.intervene(model) as hands, pytest.raises(regard.RegardError, match="say which"):
        hands.mask(layer=0, query=1, key=0)


@torch.no_grad()
def test_a_row_of_the_batch_alone() -> None:
    given, model = inputs("Llama", (9, 9)), tiny("Llama")
    before = model(**given)[0]
    with regard.intervene(model) as hands:
        hands.remove(layer=0, head=1, batch=1)
        got = model(**given)[0]
    assert torch.equal(got[0], before[0])
    with regard.intervene(model) as hands:
        hands.remove(layer=0, head=1)
        torch.testing.assert_close(got[1], model(**given)[0][1])


@torch.no_grad()
def test_a_query_that_is_left_nothing_mixes_zeros() -> None:
    given, model = inputs("Llama", (9, 9)), tiny("Llama")
    with regard.intervene(model) as hands, regard.observe(model) as seen:
        hands.mask(layer=0, head=1, query=0, key=0)
        hidden = model(**given)[0]
    assert float(seen[0, 1].dense()[0].abs().sum()) == 0
    assert bool(torch.isfinite(hidden).all())
    with regard.intervene(model) as hands:
        hands.replace(layer=0, head=1, by=first_zero)
        torch.testing.assert_close(model(**given)[0], hidden)


def first_zero(context: Tensor) -> Tensor:
    context = context.clone()
    context[..., 0, :] = 0
    return context


@torch.no_grad()
def test_the_mean_over_texts() -> None:
    given, model = inputs("Bert"), tiny("Bert")
    texts = [inputs("Bert", (7, 4)), inputs("Bert", (5,))]
    outputs = []
    for text in texts:
        with regard.observe(model, values=True) as seen:
            model(**text)
        layer = seen.layer(1)
        items = [layer.item(b) for b in range(len(text["input_ids"]))]
        outputs += [item.context[2] for item in items if item.context is not None]
    assert sum(len(o) for o in outputs) == 16
    mean = torch.cat(outputs).double().mean(0)
    with regard.intervene(model) as hands:
        hands.remove(layer=1, head=2, by="mean", texts=texts)
        got = model(**given)[0]
    with regard.intervene(model) as hands:
        hands.replace(layer=1, head=2, by=mean)
        torch.testing.assert_close(model(**given)[0], got)


@pytest.mark.parametrize("family", OUTSIDE)
@torch.no_grad()
def test_attention_outside_the_registry_is_refused(family: str) -> None:
    given, model = inputs(family), tiny(family)
    before = model(**given)[0]
    with regard.intervene(model) as hands:
        assert torch.equal(model(**given)[0], before)
        hands.remove(layer=1, head=0)
        with pytest.raises(regard.RegardError, match="outside transformers' registry"):
            model(**given)
        hands.changes.clear()


@pytest.mark.filterwarnings("ignore:the weights of")
@torch.no_grad()
def test_a_softmax_with_a_sink() -> None:
    """The sink takes part in the weights that are left, and is no key that could be hidden."""
    given, model = inputs("GptOss", (9, 9)), tiny("GptOss", "eager")
    with regard.observe(model) as before:
        model(**given)
    expected = before[0, 1].dense()
    with regard.intervene(model) as hands, regard.observe(model) as seen:
        hands.mask(layer=0, head=1, query=3, key=2, renormalise=False)
        model(**given)
    expected[3, 2] = 0
    torch.testing.assert_close(seen[0, 1].dense(), expected)
    assert 0 < float(expected[3].sum()) < 0.99


@torch.no_grad()
def test_a_word_that_nobody_may_look_at_stays_in_the_map() -> None:
    given, model = inputs("Bert"), tiny("Bert")
    for renormalise in (True, False):
        with regard.intervene(model) as hands, regard.observe(model) as seen:
            hands.mask(key=4, renormalise=renormalise)
            model(**given)
        for batch, n in enumerate((9, 6)):
            weights = seen.map(1, 2, batch).dense()
            assert weights.shape == (n, n)
            assert float(weights[:, 4].abs().max()) == 0
            assert float(weights[0, 3]) > 0


@torch.no_grad()
def test_sharper_scores_are_those_of_another_scale() -> None:
    model, eager = tiny("Llama"), tiny("Llama", "eager")
    eager.load_state_dict(model.state_dict())
    ids = torch.tensor([[3, 5, 7, 11, 13]])
    for layer in eager.layers:
        layer.self_attn.scaling *= 2.5
    with regard.intervene(model) as hands, regard.observe(model) as seen:
        hands.sharpen(by=2.5)
        changed = model(ids).last_hidden_state
    own = eager(ids, output_attentions=True)
    torch.testing.assert_close(changed, own.last_hidden_state, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(
        seen.layer(1).map(2).dense(), own.attentions[1][0, 2], atol=1e-5, rtol=1e-4
    )
