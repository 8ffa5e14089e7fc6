"""The weight beside an effect, by words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt, Variant
from regard.inside.ablate.weights import WordWeights, content_words
from regard.pieces.pieces import Pieces
from regard.text import Word

HEAD = HeadAt("self", 0, 0)


def weights(by_word: list[list[float]], pieces: Pieces) -> WordWeights:
    trial: Any = SimpleNamespace(pieces=pieces, written=pieces, parts=("self",), has_heads=False)
    made = WordWeights(cast(AblationTrial, trial))
    made.by_head[HEAD] = torch.tensor(by_word)
    return made


def test_the_largest_weight_to_another_content_word() -> None:
    pieces = Pieces.plain(["[CLS]", "it", "was", "."])
    pieces.special[:] = [True, False, False, False]
    made = weights([[1, 0, 0, 0], [0.5, 0.3, 0.2, 0], [0.1, 0.6, 0.2, 0.1], [0, 1, 0, 0]], pieces)
    marked: Any = [False, False, False, True]
    object.__setattr__(pieces, "separators", marked)
    assert [word.text for word in content_words(pieces)] == ["it", "was"]
    variant = Variant((HEAD,))
    assert made.of(variant, None) == pytest.approx((0.2 + 0.6) / 2)
    assert made.of(variant, pieces.words[2]) == pytest.approx(0.6)
    link = Variant((HEAD,), pieces.words[1], pieces.words[2])
    assert made.of(link, None) == pytest.approx(0.2)


def test_a_model_that_looks_back_leaves_out_its_first_word() -> None:
    pieces = Pieces.plain(["a", "b", "c"])
    made = weights([[1, 0, 0], [0.25, 0.75, 0], [0.125, 0.5, 0.375]], pieces)
    assert made.of(Variant((HEAD,)), None) == pytest.approx((0.25 + 0.5) / 2)
    assert made.of(Variant((HEAD,)), Word("a", 0, 1)) == 0


def test_by_words_of_several_tokens(trials: dict[str, Any]) -> None:
    trial = trials["Llama"]
    made = WordWeights(trial)
    assert len(made.by_head) == 8
    one = made.by_head[HeadAt("self", 1, 2)]
    assert one.shape == (len(trial.pieces.words),) * 2
    assert len(trial.pieces) > len(trial.pieces.words)
    torch.testing.assert_close(one.sum(-1), torch.ones(len(one)))
