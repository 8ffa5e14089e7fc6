"""From pieces to vectors: tokens by their matrix, other pieces by whoever makes theirs."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from regard.errors import ConfigError
from regard.models.classifier import Classifier, ClassifierConfig
from regard.models.classifier import sized as sized_classifier
from regard.models.language import LanguageModel, sized

LABELS = ("bad", "good")


def test_tokens_are_rows_of_their_matrix() -> None:
    made = LanguageModel(sized("lstm", "tiny", 11)).eval()
    ids = torch.tensor([[5, 7], [7, 0]])
    assert torch.equal(made.embed(ids), made.words[ids])


def test_a_transformers_tokens_are_scaled_and_placed() -> None:
    """Place 0 has (0, 1, 0, 1, …)."""
    made = LanguageModel(sized("transformer", "tiny", 11)).eval()
    x = made.embed(torch.tensor([[5]]))[0, 0]
    expected = math.sqrt(64) * made.words[5] + torch.tensor([0.0, 1.0] * 32)
    torch.testing.assert_close(x, expected)


@pytest.mark.parametrize("name", ["words", "lstmn", "transformer"])
def test_other_pieces_need_no_vocabulary(name: str) -> None:
    """Patches of an image, say: 12 numbers each, made 64 wide by a layer of their own."""
    made = Classifier(sized_classifier(name, "tiny", 0, LABELS)).eval()
    patches, inputs = torch.randn(2, 5, 12), nn.Linear(12, 64)
    logits, weights = made.decide(inputs(patches), torch.tensor([5, 3]))
    assert logits.shape == (2, 2)
    assert not weights[1, 3:].any()
    assert "words" not in made.state_dict()
    with pytest.raises(ConfigError, match="no vocabulary: give it vectors, not token ids"):
        made(torch.tensor([[5, 7]]), torch.tensor([2]))
    assert ClassifierConfig.from_dict(made.config.to_dict()) == made.config


def test_the_device_is_that_of_the_weights() -> None:
    with torch.device("meta"):
        assert LanguageModel(sized("lstm", "tiny", 11)).device.type == "meta"
