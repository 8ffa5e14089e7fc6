"""What is done to the tensors of one call, against sums by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from regard.attention.rule import Rule
from regard.errors import RegardError
from regard.inside.intervene.change import Change, Extent
from regard.inside.intervene.plan import CallPlan
from regard.inside.observe.call import Call

EXTENT = Extent(1, 4, 3, 5, 0, 0, torch.device("cpu"))


def call() -> Call:
    torch.manual_seed(1)
    query, key, value = torch.randn(1, 4, 3, 7), torch.randn(1, 2, 5, 7), torch.randn(1, 2, 5, 6)
    return Call(query, key, Rule(0.3), value=value)


def weights(given: Call) -> torch.Tensor:
    scores = 0.3 * given.query @ given.key.repeat_interleave(2, 1).mT
    return scores.softmax(-1)


def test_a_dropped_weight_takes_its_value_away_from_grouped_heads() -> None:
    given = call()
    assert given.value is not None
    values = given.value.repeat_interleave(2, 1)
    plan = CallPlan(
        [Change(0, "self", (2,), query=(1,), key=(4,), renormalise=False)], EXTENT, none
    )
    expected = weights(given) @ values
    got = plan.done(expected, lambda: given)
    expected = expected.clone()
    expected[0, 2, 1] -= weights(given)[0, 2, 1, 4] * given.value[0, 1, 4]
    torch.testing.assert_close(got, expected)
    seen = plan.seen(given)
    assert seen.weights is not None
    assert float(seen.weights[0, 2, 1, 4]) == 0


def test_hidden_pairs_are_observed_as_scores_too_low_to_count() -> None:
    given = call()
    plan = CallPlan([Change(0, "self", (3,), query=(0,), key=(1,))], EXTENT, none)
    rule = plan.seen(given).rule
    scores = rule.of_head(0).scores  # the rule holds a bias for all heads of the batch
    assert scores is not None
    assert rule.bias is not None
    assert (rule.bias < -1e29).nonzero().tolist() == [[0, 3, 0, 1]]
    assert plan.masks
    assert not CallPlan([Change(0, "self", (3,), edit=torch.zeros_like)], EXTENT, none).masks


def test_a_query_that_saw_something_and_now_sees_nothing() -> None:
    allowed = torch.ones(1, 1, 3, 5, dtype=torch.bool)
    allowed[..., 0, 1:] = False
    allowed[..., 2, :] = False
    change = Change(0, "self", (1,), query=(0,), key=(0,))
    plan = CallPlan([change], EXTENT, lambda: allowed)
    assert plan.emptied is not None
    assert plan.emptied.nonzero().tolist() == [[0, 1, 0]]
    context = torch.ones(1, 4, 3, 6)
    assert float(plan.done(context, call)[0, 1, 0].sum()) == 0
    with pytest.raises(RegardError, match="lets query 0 see no key 3"):
        CallPlan([replace(change, key=(3,))], EXTENT, lambda: allowed)


def test_an_emptied_row_is_seen_as_zeros_where_another_weight_is_dropped() -> None:
    given = call()
    hidden = Change(0, "self", (1,), query=(2,), key=(0, 1, 2, 3, 4))
    dropped = Change(0, "self", (1,), query=(1,), key=(0,), renormalise=False)
    seen = CallPlan([hidden, dropped], EXTENT, none).seen(given)
    assert seen.weights is not None
    assert seen.weights[0, 1, 2].tolist() == [0] * 5
    assert float(seen.weights[0, 1, 1, 0]) == 0
    torch.testing.assert_close(seen.weights[0, 0], weights(given)[0, 0])


def none() -> None:
    return None
