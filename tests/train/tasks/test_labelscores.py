"""Label scores: shares by hand, of all pieces and of groups of them; spans of labels."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.models.guesses import WordGuesses
from regard.models.labeller import Labeller, sized_labeller
from regard.pieces.tokenizer import Tokenizer
from regard.train.data.tagged import Tagged
from regard.train.tasks.labelscores import mean_iou, scores, word_scores

ROWS = [
    Tagged(("Anna", "Bo", "ran"), ("B-PER", "I-PER", "O")),
    Tagged(("we", "met", "Anna"), ("O", "O", "B-PER")),
]
LABELS = ("B-PER", "I-PER", "O")


def test_shares_by_hand() -> None:
    right = [np.array([0, 1]), np.array([2])]
    said = {"one": [np.array([0, 0]), np.array([0])], "other": [np.array([0, 1]), np.array([0])]}
    found = scores(["a", "b", "c"], right, said, {"known": np.array([True, False, True])})
    assert found["labelled"] == 3
    assert [way["name"] for way in found["ways"]] == ["one", "other"]
    assert [way["accuracy"] for way in found["ways"]] == pytest.approx([1 / 3, 2 / 3])
    assert [way["known"] for way in found["ways"]] == [1 / 2, 1 / 2]
    assert found["shares"] == pytest.approx({"known": 2 / 3})
    assert found["confusion"] == [[1, 0, 0], [0, 1, 0], [1, 0, 0]]  # of the last way
    assert found["recall"] == [1.0, 1.0, 0.0]


def test_words_and_their_spans() -> None:
    tokens = Tokenizer.train([row.texts()[0] for row in ROWS], 40, least=1)
    torch.manual_seed(0)
    model = Labeller(sized_labeller("alone", "tiny", LABELS, vocabulary=len(tokens))).eval()
    with torch.no_grad():
        model.output.weight.zero_()
        model.output.bias.copy_(torch.tensor([0.0, 0.0, 1.0]))  # O, whatever the word
    guesses = WordGuesses.of([("Anna", 0), ("ran", 2), ("we", 2), ("met", 2)])
    found = word_scores(model, tokens, guesses, ROWS)
    commonest, alone, own = found["ways"]
    assert (found["sentences"], found["labelled"]) == (2, 6)
    assert commonest["accuracy"] == own["accuracy"] == 3 / 6
    assert alone["accuracy"] == 5 / 6  # all but Bo
    assert (alone["known"], alone["unknown"]) == (1.0, 0.0)
    assert found["shares"]["unknown"] == 1 / 6
    assert [way["f1"] for way in found["ways"]] == pytest.approx([0.0, 2 * 1 / (2 + 2), 0.0])


def test_intersection_over_union_by_hand() -> None:
    right, said = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert mean_iou(right, said, 3) == pytest.approx((2 / 3 + 1 / 2) / 2)  # the third never occurs
    assert mean_iou(right, right, 3) == 1.0
