"""regard's own models changed: heads of MultiHeadAttention, with caches and in translators."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.attention import KeyValueCache, MultiHeadAttention, causal, padding
from regard.models.translators.beam import translate_batch
from regard.models.translators.builder import build
from regard.models.translators.config import sized


def by_hand(
    module: MultiHeadAttention, x: Tensor, mask: Tensor, *, head: int, query: int, key: int
) -> Tensor:
    """The output with one weight 0 that is not made up for, from the weights themselves."""
    _, weights = module(x, mask=mask, need_weights=True)
    assert weights is not None
    weights = weights.clone()
    weights[:, head, query, key] = 0
    values = module.value(x).view(*x.shape[:2], module.key_heads, -1).transpose(1, 2)
    groups = module.heads // module.key_heads
    context = weights @ values.repeat_interleave(groups, 1)
    joined: Tensor = module.output(context.transpose(1, 2).flatten(2))
    return joined


@pytest.fixture
def module() -> MultiHeadAttention:
    torch.manual_seed(3)
    return MultiHeadAttention(20, 4, key_heads=2, head_width=7).eval()


@torch.no_grad()
def test_a_hidden_link_is_a_masked_link(module: MultiHeadAttention) -> None:
    x = torch.randn(3, 11, 20)
    mask = padding([11, 8, 5])
    allowed = mask.dense(11).unsqueeze(1).expand(3, 4, 11, 11).clone()
    allowed[:, 2, 6, 4] = False
    expected = module(x, mask=allowed).context
    with regard.intervene(module) as hands, regard.observe(module) as seen:
        hands.mask(layer=0, head=2, query=6, key=4)
        torch.testing.assert_close(module(x, mask=mask).context, expected)
    assert float(seen.map(0, 2, 1).dense()[6, 4]) == 0
    whole = module(x, mask=mask).context
    with regard.intervene(module):
        assert torch.equal(module(x, mask=mask).context, whole)


@torch.no_grad()
def test_a_weight_of_zero_is_the_sum_by_hand(module: MultiHeadAttention) -> None:
    x = torch.randn(2, 11, 20)
    mask = causal().dense(11)
    expected = by_hand(module, x, mask, head=3, query=9, key=2)
    with regard.intervene(module) as hands, regard.observe(module) as seen:
        hands.mask(layer=0, head=3, query=9, key=2, renormalise=False)
        torch.testing.assert_close(module(x, mask=causal()).context, expected)
    assert float(seen[0, 3].dense()[9, 2]) == 0
    assert float(seen[0, 3].dense()[9].sum()) < 1


@torch.no_grad()
def test_steps_with_a_cache_are_one_pass(module: MultiHeadAttention) -> None:
    x = torch.randn(2, 7, 20)
    with regard.intervene(module) as hands:
        hands.mask(layer=0, head=1, query=(3, 5), key=(0, 2))
        hands.mask(layer=0, head=2, query=4, key=1, renormalise=False)
        hands.scale(layer=0, head=0, by=2.0)
        whole = module(x, mask=causal()).context
        cache = KeyValueCache()
        steps = [module(x[:, :2], mask=causal(), cache=cache).context]
        steps += [module(x[:, t : t + 1], mask=causal(), cache=cache).context for t in range(2, 7)]
    torch.testing.assert_close(torch.cat(steps, 1), whole)


def transformer() -> Any:
    torch.manual_seed(5)
    config = sized("transformer", "tiny", 40, width=24, heads=3, layers=2, feedforward=32)
    return build(config).eval()


@torch.no_grad()
def test_a_translator_without_a_head_is_one_with_zeros_in_its_projection() -> None:
    model, zeroed = transformer(), transformer()
    source, lengths = torch.randint(4, 40, (2, 6)), torch.tensor([6, 4])
    target = torch.randint(4, 40, (2, 5))
    before = model(source, lengths, target)
    zeroed.decoder[1].cross.output.weight[:, 8:16] = 0
    with regard.intervene(model) as hands:
        hands.remove(layer=1, head=1, kind="cross")
        torch.testing.assert_close(model(source, lengths, target), zeroed(source, lengths, target))
        got = translate_batch(model, source, lengths, beam=3)
    expected = translate_batch(zeroed, source, lengths, beam=3)
    assert [h.ids for h in got] == [h.ids for h in expected]
    assert torch.equal(model(source, lengths, target), before)


@torch.no_grad()
def test_in_beam_search_a_query_is_no_position() -> None:
    model = transformer()
    source, lengths = torch.randint(4, 40, (1, 6)), torch.tensor([6])
    with regard.intervene(model) as hands:
        hands.mask(layer=0, query=2, key=1, kind="decoder")
        with pytest.raises(regard.RegardError, match="a query is a hypothesis"):
            translate_batch(model, source, lengths, beam=3)
        hands.changes.clear()
        hands.mask(key=2, kind="cross")
        assert translate_batch(model, source, lengths, beam=3)


@torch.no_grad()
def test_sharper_scores_are_those_of_longer_queries(module: MultiHeadAttention) -> None:
    x = torch.randn(2, 5, module.width)
    with regard.intervene(module) as hands, regard.observe(module) as seen:
        hands.sharpen(layer=0, head=1, by=3)
        changed = module(x).context
    before = module.query.weight.clone()
    width = module.head_width
    module.query.weight[width : 2 * width] *= 3
    if module.query.bias is not None:
        module.query.bias[width : 2 * width] *= 3
    longer, weights = module(x, need_weights=True)
    module.query.weight.copy_(before)
    torch.testing.assert_close(changed, longer)
    assert weights is not None
    torch.testing.assert_close(seen.layer(0).map(1).dense(), weights[0, 1])
