"""The rule against its definition in NumPy, over the cases that its twins are tested with too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.attention import Mask, causal, window
from regard.attention.rule import NOTHING, Rule, softmax, softmax_with_sums, to_weights
from tests.attention.rulecases import CASES, RuleCase


def close(ours: Tensor, theirs: np.ndarray[Any, Any], case: RuleCase) -> None:
    most = case.tolerance
    np.testing.assert_allclose(ours.numpy(), theirs, atol=most, rtol=most, err_msg=case.name)


def test_scores_and_weights_of_whole_rows() -> None:
    for case in CASES:
        scores = case.rule.scores(case.query, case.key)
        close(scores, case.scores, case)
        weights = softmax(scores)
        close(weights, case.weights, case)
        close(scores.logsumexp(-1), case.lse, case)
        empty = np.isneginf(case.lse)
        assert not weights.numpy()[empty].any()
        expected = scores.softmax(-1).numpy()[~empty]  # PyTorch's own, bit for bit
        assert np.array_equal(weights.numpy()[~empty], expected)


def test_log_sums_and_weights_at_once() -> None:
    for case in CASES:
        scores = case.rule.scores(case.query, case.key, masked=NOTHING)
        before = scores.clone()
        lse, weights = softmax_with_sums(scores, keep=True)
        assert torch.equal(scores, before)
        close(lse, case.lse, case)
        close(weights, case.weights, case)
        assert torch.equal(softmax_with_sums(scores, keep=False)[1], weights)


def test_a_tile_is_the_part_of_the_whole() -> None:
    for case in CASES:
        queries, keys = case.scores.shape[1:]
        rows, columns = (queries // 3, queries - 1), (keys // 3, keys)
        here = (slice(None), slice(*rows), slice(*columns))
        scores = case.rule.scores(case.query, case.key, rows, columns)
        close(scores, case.scores[here], case)
        weights = to_weights(scores, torch.from_numpy(case.lse).float()[:, slice(*rows)])
        close(weights, case.weights[here], case)


def test_chosen_pairs() -> None:
    for case in CASES:
        queries, keys = case.scores.shape[1:]
        rows = torch.tensor([[0, queries - 1, -1], [queries // 2, 0, 1]])
        columns = torch.tensor([[keys - 1, -1], [0, keys // 2]])
        scores = case.rule.scores_between(case.query, case.key, rows, columns)
        expected = case.scores[:, rows[:, :, None], columns[:, None, :]]
        nowhere = (rows < 0).unsqueeze(-1) | (columns < 0).unsqueeze(-2)
        expected = np.where(nowhere.numpy(), -np.inf, expected)
        close(scores, expected, case)
        if case.rule.bias is None:
            allowed = case.rule.allows(rows, columns, queries, keys).expand(scores.shape)
            assert torch.equal(allowed, scores > -math.inf)


def test_the_rule_of_one_head() -> None:
    for case in CASES:
        for head in (0, len(case.query) - 1):
            key = case.key[head * len(case.key) // len(case.query)]
            scores = case.rule.of_head(head).scores(case.query[head, None], key[None])
            close(scores[0], case.scores[head], case)


@pytest.mark.parametrize(
    ("mask", "rows", "expected"),
    [
        (None, (2, 4), (0, 7)),
        (causal(), (2, 4), (0, 6)),  # 5 queries at the end of 7 keys: query 3 is at key 5
        (window(1, 0), (2, 4), (3, 6)),
        (Mask(causal=True, after=-7), (0, 1), (0, 1)),  # nothing in reach: never empty
        (Mask(allowed=torch.zeros(5, 7).bool()), (2, 4), (0, 7)),
    ],
)
def test_keys_in_reach(mask: Mask | None, rows: tuple[int, int], expected: tuple[int, int]) -> None:
    assert Rule(1.0, mask).reach(rows, 5, 7) == expected


def test_by_hand() -> None:
    """Two queries and two keys of one number: scores 2 and −2, capped at 1, + log 3 for key 0."""
    query, key = torch.tensor([[[1.0], [1.0]]]), torch.tensor([[[4.0], [-4.0]]])
    rule = Rule(0.5, None, torch.tensor([math.log(3), 0.0]))
    weights = softmax(rule.scores(query, key))
    torch.testing.assert_close(weights[0, 0, 0], torch.tensor(3 / (3 + math.exp(-4))))
    capped = Rule(0.5, causal(), softcap=1.0).scores(query, key)
    cap = math.tanh(2)
    torch.testing.assert_close(capped, torch.tensor([[[cap, -math.inf], [cap, -cap]]]))


def test_a_row_of_nothing_has_no_gradient_that_is_not_a_number() -> None:
    scores = torch.tensor([[-math.inf, -math.inf], [0.0, 1.0]], requires_grad=True)
    softmax(scores)[:, 0].sum().backward()
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert (scores.grad[0] == 0).all()


def test_no_rows_no_keys_no_width() -> None:
    for heads, queries, keys, width in ((2, 0, 3, 5), (2, 3, 0, 5), (2, 3, 5, 0)):
        query, key = torch.ones(heads, queries, width), torch.ones(1, keys, width)
        weights = softmax(Rule(1.0, causal()).scores(query, key))
        assert weights.shape == (heads, queries, keys)
        assert weights.isfinite().all()
