"""Every design has its class, with weights from torch's random state."""

from __future__ import annotations

import pytest
import torch

from regard.models.translators.builder import CLASSES, build
from regard.models.translators.config import MODELS, sized


def test_every_design_has_a_class() -> None:
    assert tuple(CLASSES) == MODELS


@pytest.mark.parametrize("name", MODELS)
def test_the_same_seed_makes_the_same_translator(name: str) -> None:
    config, made = sized(name, "tiny", 11), []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append(build(config))
    one, same, other = (translator.vocabulary.words for translator in made)
    assert made[0].config is config
    assert torch.equal(one, same)
    assert not torch.equal(one, other)
