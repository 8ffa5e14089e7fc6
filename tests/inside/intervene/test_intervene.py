"""The door: what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import regard
from tests.inside.tiny import inputs, tiny


def fail() -> None:
    raise ZeroDivisionError


def test_what_is_no_model_or_has_no_attention() -> None:
    wrong: Any = "minilm"
    with pytest.raises(regard.RegardError, match=r"wants a torch.nn.Module, got str"):
        regard.intervene(wrong).__enter__()
    with pytest.raises(regard.RegardError, match="Linear has no attention that can be changed"):
        regard.intervene(nn.Linear(2, 2)).__enter__()


@torch.no_grad()
def changed(model: Any, given: dict[str, Any], verb: str, then: Any = None, **change: Any) -> Any:
    with regard.intervene(model) as hands:
        getattr(hands, verb)(**change)
        output = model(**given)[0]
        if then is not None:
            then()
    return output


@torch.no_grad()
def test_nothing_is_left_after_an_error() -> None:
    given, model = inputs("Llama"), tiny("Llama")
    before = model(**given)[0]
    with pytest.raises(ZeroDivisionError):
        changed(model, given, "remove", fail, layer=0, head=0)
    assert torch.equal(model(**given)[0], before)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())


@torch.no_grad()
def test_a_change_that_met_nothing_is_an_error() -> None:
    given, model = inputs("Llama", (9, 9)), tiny("Llama")
    with pytest.raises(regard.RegardError, match="head 0 of layer 2: of this kind layer 0 to 1 r"):
        changed(model, given, "remove", layer=2, head=0)
    with pytest.raises(regard.RegardError, match="the text had 9 positions"):
        changed(model, given, "mask", layer=1, head=0, query=9, key=0)
    with regard.intervene(model) as hands:
        hands.remove(layer=7, head=0)  # the model does not run: nothing could be met
        assert len(hands.changes) == 1


@torch.no_grad()
def test_a_head_or_a_link_that_is_not_there() -> None:
    given, model = inputs("Llama", (9, 9)), tiny("Llama")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"layer": 1, "head": 4, "query": 3, "key": 1}, "this layer has 4: there is no head 4"),
        ({"layer": 1, "head": 0, "query": 3, "key": 5}, "lets query 3 see no key 5"),
        ({"layer": 1, "head": 0, "query": 3, "key": 1, "batch": 2}, "there are 2, got batch=2"),
    ]
    for change, text in cases:
        with regard.intervene(model) as hands:
            hands.mask(**change)
            with pytest.raises(regard.RegardError, match=text):
                model(**given)
            hands.changes.clear()


@torch.no_grad()
def test_a_cache_of_unknown_positions_is_refused_for_masks_alone() -> None:
    model = tiny("Llama", head="ForCausalLM")
    ids = inputs("Llama", (6,))["input_ids"]
    past = model(ids[:, :4]).past_key_values
    with regard.intervene(model) as hands:
        hands.remove(layer=0, head=0)
        model(ids[:, 4:5], past_key_values=past)
        hands.mask(layer=0, head=0, query=5, key=1)
        with pytest.raises(regard.RegardError, match="begin the text inside the block"):
            model(ids[:, 5:], past_key_values=past)
        hands.changes.clear()


@torch.no_grad()
def test_two_blocks_on_one_layer_are_refused() -> None:
    given, model = inputs("Llama"), tiny("Llama")
    with regard.intervene(model) as outer, regard.intervene(model) as inner:
        outer.remove(layer=0, head=0)
        inner.remove(layer=1, head=0)
        model(**given)
        inner.remove(layer=0, head=1)
        with pytest.raises(regard.RegardError, match="one block of intervene at a time"):
            model(**given)
