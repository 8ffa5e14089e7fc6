"""Sheets: their sizes, and the rule that they take over."""

from __future__ import annotations

import numpy as np
import torch

from regard.attention import Mask
from regard.attention.rule import Rule
from regard.pieces.sheet import Known, Sheet, Subject, as_array, some


def test_the_numbers_that_a_page_carries() -> None:
    query, key = np.zeros((2, 3, 5)), np.zeros((1, 7, 5))
    one = Sheet("one", 0, 0, 0, query=query, key=key, known={"x": Known(np.zeros((3, 11)))})
    other = Sheet("other", 1, 0, 0, weights=np.zeros((2, 3, 13)))
    assert (one.shape, other.shape) == ((3, 7), (3, 13))
    assert (one.numbers, other.numbers) == (2 * 3 * 5 + 7 * 5 + 33, 2 * 3 * 13)
    assert Subject("both", [], [one, other]).numbers == one.numbers + other.numbers


def test_a_rule_is_taken_over() -> None:
    allowed = torch.tensor([[True, False]])
    sheet = Sheet("one", 0, 0, 0)
    mask = Mask(causal=True, before=2, allowed=allowed)
    sheet.set_rule(Rule(0.5, mask, torch.tensor([[1.0, 2.0]], dtype=torch.bfloat16), 3.0))
    assert (sheet.scale, sheet.softcap) == (0.5, 3.0)
    assert (sheet.causal, sheet.before, sheet.after) == (True, 2, mask.after)
    assert sheet.allowed is not None
    assert sheet.bias is not None
    assert sheet.allowed.tolist() == [[True, False]]
    assert sheet.bias.tolist() == [[1, 2]]


def test_some_rows() -> None:
    assert some(3) == [0, 1, 2]
    assert some(101, 5) == [0, 25, 50, 75, 100]
    assert as_array(torch.ones(2, requires_grad=True).half()).dtype == np.float32
