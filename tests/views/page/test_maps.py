"""An attention map as a subject of the page: vectors and rule, or weights."""

from __future__ import annotations

import numpy as np
import torch

from regard.attention import AttentionMap, Mask, Word
from regard.views.page.maps import subject_of_map, subjects_of_map


def test_a_head_carries_its_vectors_and_its_rule() -> None:
    torch.manual_seed(3)
    query, key = torch.randn(5, 7), torch.randn(11, 7)
    allowed = torch.ones(5, 11, dtype=torch.bool)
    allowed[2, 3] = False
    mask = Mask(allowed=allowed, before=6)
    head = AttentionMap.from_vectors(query, key, scale=0.3, mask=mask, softcap=2.0)
    (sheet,) = subject_of_map(head).sheets
    np.testing.assert_array_equal(sheet.query[0], query)  # type: ignore[index]
    np.testing.assert_array_equal(sheet.key[0], key)  # type: ignore[index]
    np.testing.assert_array_equal(sheet.allowed, allowed)
    assert (sheet.scale, sheet.softcap, sheet.before, sheet.causal) == (0.3, 2.0, 6, False)
    assert sheet.checked == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(sheet.lse[0], head.lse)  # type: ignore[index]
    assert (sheet.weights, sheet.kind) == (None, "cross"), "5 queries and 11 keys are two texts"


def test_other_maps_carry_weights() -> None:
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    stored = AttentionMap.from_weights(weights, queries=["a", "b"], keys=["a", "b"])
    subject = subject_of_map(stored, "two")
    assert [text.labels for text in subject.texts] == [["a", "b"]]
    assert subject.title == "two"
    np.testing.assert_array_equal(subject.sheets[0].weights[0], weights)  # type: ignore[index]
    words = stored.by_word([Word("ab", 0, 2)])
    assert subject_of_map(words).sheets[0].weights.tolist() == [[[1.0]]]  # type: ignore[union-attr]


def test_a_difference_is_two_maps_compared() -> None:
    one, two = (AttentionMap.from_weights(torch.eye(2) * x) for x in (1.0, 0.5))
    first, second = subjects_of_map(one.difference(two), "heads")
    assert (first.title, second.title) == ("heads 1", "heads 2")
    assert first.start == {"view": "compare"}
    assert len(subjects_of_map(one)) == 1
