"""What each kind of model puts out, and what is measured of it."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.inside.ablate.loading import text_reading
from regard.inside.textmodel import load
from tests.inside.ablate.conftest import TEXT


@torch.inference_mode()
def test_rows_are_the_same_text(trials: dict[str, Any]) -> None:
    for family, steps in (("Llama", 1), ("Roberta", 1), ("Bart", len(trials["Bart"].wanted))):
        trial = trials[family]
        several, one = trial.run(3), trial.run(1)
        assert several.shape[:2] == (3, steps)
        torch.testing.assert_close(several, one.expand_as(several), rtol=1e-4, atol=1e-5)


def test_targets(trials: dict[str, Any], folders: dict[str, Any]) -> None:
    labels = text_reading(load(str(folders["Roberta"]), predicts=True))
    assert labels(TEXT, "LABEL_1").target == "LABEL_1"
    with pytest.raises(regard.RegardError, match="one of the labels LABEL_0, LABEL_1, got 'good'"):
        labels(TEXT, "good")
    words = text_reading(load(str(folders["Llama"]), predicts=True))
    assert words(TEXT, "street").target.startswith("s")
    assert trials["Bart"].target == "it was"


def test_numbers_to_follow_back(trials: dict[str, Any]) -> None:
    """log p of what is measured; its parts of a text that was written are added up."""
    for trial in trials.values():
        number, said = trial.score()
        base = trial.measured(trial.run(1).detach(), "logprob").base
        assert float(number.detach()) == pytest.approx(base, abs=1e-6)
        assert number.requires_grad
        assert said == f"log p({trial.target!r})"
