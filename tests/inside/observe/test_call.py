"""Calls one after the other: the steps of a generated text are one map."""

from __future__ import annotations

import pytest
import torch

import regard
from regard.errors import RegardError
from tests.inside.observe.seeing import seen
from tests.inside.tiny import inputs, tiny

# transformers' DeBERTa-v2 still asks for it when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")


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
