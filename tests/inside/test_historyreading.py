"""Recommending by hand: what is left out, what an erased item changes, which weights are shown."""

from __future__ import annotations

import pytest
import torch

from regard.errors import ConfigError
from regard.inside.historyreading import depend, recommend
from regard.models.language import LanguageModel, sized
from regard.pieces.history import Catalogue, History

CATALOGUE = Catalogue(list("abcdefg"), {"a": "Alien"})
HISTORY = History("7", list("abcd"), list("1234"), [False] * 4)


def model_of(design: str) -> LanguageModel:
    torch.manual_seed(5)
    return LanguageModel(sized(design, "tiny", len(CATALOGUE))).eval()


@torch.no_grad()
@pytest.mark.parametrize("design", ["transformer", "lstmn", "simple-rnn+attention", "lstm"])
def test_each_item_is_erased_from_what_is_read(design: str) -> None:
    model = model_of(design)
    found = recommend(model, CATALOGUE, HISTORY, 3)
    assert found.pieces.labels == ["<s>", "b", "c", "d"]
    assert sorted(found.items) == ["e", "f", "g"]
    assert sum(found.probabilities) == pytest.approx(1)
    ablation = depend(model, CATALOGUE, HISTORY, 3)
    assert ablation.target == found.titles[0]
    assert ablation.base == pytest.approx(found.probabilities[0])
    ids = [2, 5, 7]  # without "c", which is the second that was read
    logits = model(torch.tensor([ids]))[0, -1, 8:].double().softmax(-1)
    second = ablation.effects[1]
    assert second.key is not None
    assert (second.key.text, second.key.start) == ("c", 2)
    assert second.value == pytest.approx(float(logits["efg".index(found.items[0])]), abs=1e-6)
    assert second.change == pytest.approx(second.value - ablation.base)
    assert (ablation.correlation is None) == (design == "lstm")


def test_weights_of_a_layer_and_a_head() -> None:
    found = recommend(model_of("transformer"), CATALOGUE, HISTORY, 9)
    assert found.pieces.labels[1] == "Alien"
    assert found.attention.shape == (2, 4, 5)
    for weights in (found.weights(), found.weights(0), found.weights(1, 3)):
        assert weights is not None
        assert weights.sum() == pytest.approx(1, abs=1e-5)
    with pytest.raises(ConfigError, match="head must be from 0 to 3, got 4"):
        found.weights(0, 4)
    plain = recommend(model_of("lstm"), CATALOGUE, HISTORY, 9)
    assert plain.weights() is None
    with pytest.raises(ConfigError, match="lstm has no attention: leave --layer out"):
        plain.weights(0)
