"""The simple RNN's scan against the loop and against finite differences."""

from __future__ import annotations

import pytest
import torch

from tests.recurrent.readers import KINDS
from tests.recurrent.scan.loops import WORDS, check_gradient, check_loop

kinds = pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("lstmn")])


@kinds
@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("words", WORDS)
def test_the_scan_is_the_loop_and_its_gradient_too(
    kind: str, window: int | None, words: list[int]
) -> None:
    check_loop(kind, window, words)


@kinds
@pytest.mark.parametrize("lengths", [None, torch.tensor([4, 3])])
def test_the_gradient_of_the_scan(kind: str, lengths: torch.Tensor | None) -> None:
    check_gradient(kind, lengths)
