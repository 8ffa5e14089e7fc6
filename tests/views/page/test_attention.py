"""The page's arithmetic (script/attention.js) is the twin of the rule: over the rule's own cases,
in a real Chromium, it computes what rule.py computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regard.attention.rule import softmax
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Sheet, Subject
from regard.views.page.file import document
from regard.views.page.inline import script
from tests.attention.rulecases import CASES, RuleCase

COMPUTE = """
async ([content, packed]) => {
  SCRIPT
  const arrays = new of_data.Arrays(content.arrays, packed);
  const found = [];
  for (const data of content.subjects[0].layers) {
    const layer = new of_attention.Layer(data, arrays, found.length);
    await layer.ready();
    const [queries, keys] = data.shape;
    const every = Array.from({ length: queries }, (_, i) => i);
    found.push(layer.heads.map((head) => ({
      scores: every.map((i) => Array.from(head.row(i).scores)),
      lse: every.map((i) => head.row(i).lse),
      weights: every.map((i) => Array.from(head.row(i).weights)),
      matrix: Array.from(head.matrix()),
      parts: every.map((i) => Array.from(head.stretch(i, keys >> 1, keys))),
      mixed: every.map((i) => Array.from(head.mix(head.row(i).weights))),
    })));
  }
  return found;
}
"""


def sheet_of(case: RuleCase) -> Sheet:
    queries, keys = case.weights.shape[-2:]
    sheet = Sheet(case.name, 0, 0, 0 if queries == keys else 1, heads=range(len(case.query)))
    sheet.query, sheet.key, sheet.value = (x.numpy() for x in (case.query, case.key, case.value))
    sheet.set_rule(case.rule)
    return sheet


@pytest.fixture(scope="module")
def computed(browser: Any) -> list[list[dict[str, Any]]]:
    """By case and head: what the page's script makes of it."""
    sheets = [sheet_of(case) for case in CASES]
    content, packed = document([Subject("rule", [Pieces.plain([])], sheets)])
    assert not content["half"]
    context = browser.new_context(offline=True)
    found: list[list[dict[str, Any]]] = context.new_page().evaluate(
        COMPUTE.replace("SCRIPT", script("attention")), [content, packed]
    )
    context.close()
    return found


def test_the_page_computes_what_the_rule_says(computed: list[list[dict[str, Any]]]) -> None:
    assert len(computed) == len(CASES)
    for case, heads in zip(CASES, computed, strict=True):
        scores = case.rule.scores(case.query, case.key)
        weights = softmax(scores)
        groups, keys = len(case.query) // len(case.key), scores.shape[-1]
        expected = {
            "scores": scores,
            "lse": scores.logsumexp(-1),
            "weights": weights,
            "matrix": weights.flatten(1),
            "parts": weights[..., keys // 2 :],
            "mixed": weights @ case.value.repeat_interleave(groups, 0),
        }
        for name, theirs in expected.items():
            ours = np.array([head[name] for head in heads])
            most = 4 * case.tolerance
            np.testing.assert_allclose(
                ours, theirs.numpy(), atol=most, rtol=most, err_msg=f"{name} of {case.name}"
            )


def test_a_query_that_sees_nothing_has_zeros(computed: list[list[dict[str, Any]]]) -> None:
    blind = 0
    for case, heads in zip(CASES, computed, strict=True):
        for head, empty in zip(heads, np.isneginf(case.lse), strict=True):
            assert not np.array(head["weights"])[empty].any()
            assert not np.array(head["parts"])[empty].any()
            blind += int(empty.sum())
    assert blind > 1000
