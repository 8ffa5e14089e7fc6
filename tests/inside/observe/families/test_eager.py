"""Attention outside the registry: what the model computed, or refused by name."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.attention import StoredMap
from regard.errors import RegardError
from tests.inside.tiny import SIZES, inputs, tiny, transformers

pytestmark = [
    pytest.mark.filterwarnings("ignore:the weights of"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning"),
]
EAGER = ("ConvBert", "BigBird", "XLNet", "IBert", "Mpt", "GPTNeo", "MPNet", "Deberta", "RoFormer")
HEADS = (
    ("DebertaV2", "ForSequenceClassification"),
    ("Deberta", "ForMaskedLM"),
    ("MPNet", "ForMaskedLM"),
    ("RoFormer", "ForMaskedLM"),
    ("XLM", "WithLMHead"),
    ("Bloom", "ForCausalLM"),
    ("GPTJ", "ForCausalLM"),
    ("GPTNeo", "ForCausalLM"),
    ("CodeGen", "ForCausalLM"),
)


@torch.no_grad()
def seen(model: Any, given: dict[str, Tensor], **options: Any) -> tuple[regard.Observation, Any]:
    with regard.observe(model, **options) as observation:
        output = model(**given)
    return observation, output


def worst(observation: regard.Observation, expected: Any, kind: str = "self") -> float:
    """The largest difference of any weight of the layers of one kind."""
    apart = 0.0
    for number, weights in enumerate(expected):
        layer = observation.layer(number, kind)
        for batch in range(len(weights)):
            item = layer.item(batch)
            true = weights[batch][:, item.rows][..., item.columns]
            got = torch.stack([layer.map(head, batch).dense() for head in range(layer.heads)])
            assert got.shape == true.shape
            apart = max(apart, float((got - true).abs().max()))
    return apart


@pytest.mark.parametrize("family", EAGER)
@torch.no_grad()
def test_the_weights_are_those_that_the_model_gives(family: str) -> None:
    given, model = inputs(family), tiny(family)
    expected = model(**given, output_attentions=True).attentions
    before = model(**given)
    observation, output = seen(model, given)
    assert torch.equal(output[0], before[0])
    assert output.keys() == before.keys(), "nothing was asked of the model"
    assert len(observation) == len(expected) == 2
    assert worst(observation, expected) == 0
    assert observation.unseen == {}


@pytest.mark.parametrize(("family", "head"), HEADS)
@torch.no_grad()
def test_a_model_with_a_head_has_its_layers_once(family: str, head: str) -> None:
    if head == "WithLMHead":
        torch.manual_seed(1)
        model = transformers.XLMWithLMHeadModel(tiny(family).config).eval()
    else:
        model = tiny(family, head=head)
    given = inputs(family)
    everything, _ = seen(model, given)
    assert [layer.number for layer in everything] == [0, 1]
    last, _ = seen(model, given, layers=[1])
    assert [layer.name for layer in last] == [everything.layers[1].name]
    assert torch.equal(last[1, 2].dense(), everything[1, 2].dense())
    assert not torch.equal(everything[0, 2].dense(), everything[1, 2].dense())


@torch.no_grad()
def test_observing_falcon_changes_nothing() -> None:
    model, given = tiny("Falcon", head="ForCausalLM"), inputs("Falcon", (9,))
    assert model.config._attn_implementation == "sdpa"
    expected = tiny("Falcon", "eager", head="ForCausalLM")(**given, output_attentions=True)
    before = model(**given).logits
    observation, output = seen(model, given)
    assert torch.equal(output.logits, before)
    assert not isinstance(observation[0, 0], StoredMap), "queries and keys of the fused kernel"
    assert worst(observation, expected.attentions) < 1e-6
    for layer in range(2):
        for head in range(4):
            assert observation[layer, head].dense().triu(1).count_nonzero() == 0
    assert (observation.layers[0].heads, observation.layers[0].rule.scale) == (4, 8**-0.5)


@torch.no_grad()
def test_falcon_with_alibi_is_observed_as_it_runs() -> None:
    """The library's own sdpa and eager differ there: each is observed as what it is."""
    sizes = SIZES["Falcon"] | {"alibi": True, "new_decoder_architecture": False}
    config = transformers.FalconConfig(**sizes, initializer_range=0.3)
    given, logits = inputs("Falcon", (9,)), []
    for attention in ("sdpa", "eager"):
        torch.manual_seed(1)
        model = transformers.FalconForCausalLM._from_config(config, attn_implementation=attention)
        before = model.eval()(**given).logits
        observation, output = seen(model, given)
        assert torch.equal(output.logits, before)
        assert observation[1, 3].dense().triu(1).count_nonzero() == 0
        torch.testing.assert_close(observation[1, 3].dense().sum(-1), torch.ones(9))
        logits.append(before)
    assert float((logits[0] - logits[1]).abs().max()) > 0.01


@torch.no_grad()
def test_wavlm_gives_each_head_and_not_their_mean() -> None:
    given, model = inputs("WavLM"), tiny("WavLM")
    before = model(**given)
    mean = model(**given, output_attentions=True).attentions
    observation, output = seen(model, given)
    assert torch.equal(output[0], before[0])
    for number in range(2):
        layer = observation.layer(number)
        heads = torch.stack([layer.map(head).dense() for head in range(3)])
        torch.testing.assert_close(heads.mean(0), mean[number][0, 0])
        assert not torch.allclose(heads[0], heads[1], atol=1e-3)


@torch.no_grad()
def test_both_towers_of_blip() -> None:
    given, model = inputs("Blip"), tiny("Blip")
    before = model(**given)
    observation, output = seen(model, given)
    assert torch.equal(output.logits_per_text, before.logits_per_text)
    towers = [("vision_model", 10), ("vision_model", 10), ("text_model", 9), ("text_model", 9)]
    found = [(layer.name.split(".")[0], layer.query.shape[-2]) for layer in observation]
    assert found == towers
    weights = model.text_model(
        input_ids=given["input_ids"],
        attention_mask=given["attention_mask"],
        output_attentions=True,
    ).attentions
    text, _ = seen(
        model.text_model,
        {"input_ids": given["input_ids"], "attention_mask": given["attention_mask"]},
    )
    assert worst(text, weights) == 0


@torch.no_grad()
def test_sam_with_windows_and_both_ways() -> None:
    given, model = inputs("Sam"), tiny("Sam")
    before = model(**given)
    observation, output = seen(model, given)
    assert torch.equal(output.pred_masks, before.pred_masks)
    shapes = [(layer.kind, *layer.query.shape[:3], layer.key.shape[2]) for layer in observation]
    assert shapes[:2] == [("self", 8, 3, 4, 4), ("self", 2, 3, 16, 16)], "4 windows of each image"
    assert shapes[2:5] == [("self", 2, 2, 8, 8), ("cross", 2, 2, 8, 16), ("cross", 2, 2, 16, 8)]
    eager = tiny("Sam", "eager")(**given, output_attentions=True).vision_attentions
    for number, weights in enumerate(eager):
        layer = observation.layer(number, "encoder")
        got = torch.stack([layer.map(head).dense() for head in range(3)])
        torch.testing.assert_close(got, weights[:3], atol=1e-6, rtol=0)


def test_axes_that_are_not_heads_and_tokens_are_refused() -> None:
    with pytest.raises(RegardError, match=r"none of its attention .*layer\.0\.attention\.self"):
        seen(tiny("Longformer"), inputs("Longformer"))


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("LED", "encoder.layers.0.self_attn.longformer_self_attn"),
        ("LongT5", "encoder.block.0.layer.0.LocalSelfAttention"),
    ],
)
@torch.no_grad()
def test_what_was_not_seen_is_named(family: str, name: str) -> None:
    model, given = tiny(family), inputs(family)
    expected = tiny(family, "eager")(**given, output_attentions=True)
    before = model(**given)
    with (
        pytest.warns(UserWarning, match=rf"part of {family}Model was not observed.*{name}") as told,
        regard.observe(model) as observation,
    ):
        output = model(**given)
    assert told[0].filename == __file__
    assert torch.equal(output[0], before[0])
    assert len(observation.unseen) == 2
    assert name in observation.unseen
    assert len(observation) == 4
    assert worst(observation, expected.decoder_attentions, "decoder") < 1e-6
    assert worst(observation, expected.cross_attentions, "cross") < 1e-6
    with pytest.raises(RegardError, match=f"no layer 0 of kind 'encoder'.*not seen: {name}"):
        observation.map(0, 0, kind="encoder")


@pytest.mark.filterwarnings("ignore:part of ProphetNetModel")
@torch.no_grad()
def test_prophetnet_looks_at_two_futures_and_its_decoder_is_named() -> None:
    model, given = tiny("ProphetNet"), inputs("ProphetNet")
    given["attention_mask"][:] = 1
    scores = model(**given, output_attentions=True)  # before softmax, whatever the library says
    observation, _ = seen(model, given)
    for kind, found in (("encoder", scores.encoder_attentions), ("cross", scores.cross_attentions)):
        assert worst(observation, [layer.softmax(-1) for layer in found], kind) == 0
    assert list(observation.unseen) == ["decoder.layers.0.self_attn", "decoder.layers.1.self_attn"]


@torch.no_grad()
def test_a_layer_that_was_not_seen_keeps_its_number() -> None:
    """GPT-Neo's second layer is seen as the second although the first one mixes otherwise."""
    model, given = tiny("GPTNeo"), inputs("GPTNeo")
    expected, _ = seen(model, given)
    attention = model.h[0].attn.attention
    attention._attn = lambda query, key, value, mask: (value.cumsum(-2), None)
    with pytest.warns(UserWarning, match=r"not seen: h\.0\.attn.*no softmax over keys"):
        observation, _ = seen(model, given)
    assert [(layer.number, layer.name) for layer in observation] == [(1, "h.1.attn.attention")]
    assert observation[1, 0].shape == expected[1, 0].shape


@torch.no_grad()
def test_dropout_is_refused() -> None:
    model = tiny("Bloom")
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.3
    with pytest.raises(RegardError, match=r"call model\.eval\(\) first"):
        seen(model.train(), inputs("Bloom"))


@torch.no_grad()
def test_beams_make_no_one_map() -> None:
    model, given = tiny("Bloom", head="ForCausalLM"), inputs("Bloom", (5,))
    with pytest.raises(RegardError, match="num_beams=1"), regard.observe(model):
        model.generate(**given, max_new_tokens=9, min_new_tokens=9, num_beams=3)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@torch.no_grad()
def test_generated_cross_attention_is_one_map() -> None:
    model, given = tiny("LED", head="ForSeq2SeqLM"), inputs("LED", (8,))
    del given["decoder_input_ids"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with regard.observe(model) as steps:
            text = model.generate(
                **given, max_new_tokens=6, min_new_tokens=6, do_sample=False, num_beams=1
            )
        whole, _ = seen(model, given | {"decoder_input_ids": text[:, :-1]})
    for kind, shape in (("decoder", (6, 6)), ("cross", (6, 8))):
        one, other = (o.map(1, 1, 0, kind) for o in (steps, whole))
        assert one.shape == other.shape == shape
        assert torch.allclose(one.dense(), other.dense(), atol=1e-5)


@torch.no_grad()
def test_nested_observations_see_it_once_each() -> None:
    model, given = tiny("Bloom"), inputs("Bloom")
    with regard.observe(model) as outer, regard.observe(model, heads=[1]) as inner:
        model(**given)
    assert (len(outer), len(inner)) == (2, 2)
    assert torch.equal(outer[1, 1].dense(), inner[1, 1].dense())


@torch.no_grad()
def test_an_error_in_a_model_leaves_nothing_behind() -> None:
    model, given = tiny("Bloom"), inputs("Bloom")
    expected, _ = seen(model, given)
    fail = model.h[1].self_attention.dense.register_forward_hook(lambda *_: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        seen(model, given)
    fail.remove()
    assert torch._C._len_torch_function_stack() == 0
    again, _ = seen(model, given)
    assert torch.equal(again[1, 1].dense(), expected[1, 1].dense())
