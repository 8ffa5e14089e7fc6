"""Undrawn: what is made to be filled from a file leaves the caller's random numbers alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from regard.models.design import DESIGNS
from regard.models.language import LanguageModel
from regard.models.language import sized as sized_language
from regard.models.translators.builder import build
from regard.models.translators.config import MODELS, sized
from regard.store.folder import load_translator
from regard.store.shipped import HOME
from regard.store.undrawn import Undrawn
from regard.store.weights import named_weights, read_weights, unpacked


def undrawn(make: Callable[[], nn.Module]) -> nn.Module:
    """A model made so; torch's random state must be what it was."""
    before = torch.get_rng_state()
    with Undrawn():
        model = make()
    assert torch.equal(torch.get_rng_state(), before)
    return model


def shapes(model: nn.Module) -> dict[str, torch.Size]:
    return {name: tensor.shape for name, tensor in named_weights(model).items()}


@pytest.mark.parametrize("name", MODELS)
def test_a_translator_has_its_shapes_and_has_drawn_nothing(name: str) -> None:
    config = sized(name, "tiny", 31)
    assert shapes(undrawn(lambda: build(config))) == shapes(build(config))


@pytest.mark.parametrize("design", DESIGNS)
def test_so_has_a_language_model(design: str) -> None:
    config = sized_language(design, "tiny", 31)
    assert shapes(undrawn(lambda: LanguageModel(config))) == shapes(LanguageModel(config))


def test_what_is_loaded_is_what_the_file_says_and_the_random_state_is_left_alone() -> None:
    torch.manual_seed(7)
    first = torch.rand(3)
    torch.manual_seed(7)
    model, _ = load_translator(HOME / "bahdanau")
    assert torch.equal(torch.rand(3), first)
    stored = unpacked(read_weights(HOME / "bahdanau" / "model.safetensors"))
    for key, weight in named_weights(model).items():
        assert torch.equal(weight, stored[key]), key


def test_outside_of_it_weights_are_drawn_as_ever() -> None:
    torch.manual_seed(7)
    first = nn.Linear(5, 3).weight
    undrawn(lambda: nn.Linear(5, 3))
    torch.manual_seed(7)
    assert torch.equal(nn.Linear(5, 3).weight, first)
