"""What models of every kind put out, against the network called by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.inside.ownmodel import load_own
from regard.inside.textmodel import load
from regard.inside.whatif.outcome import outcome_of
from tests.inside.explain import wholes
from tests.models.bert.tinybert import save_tiny


def test_words_of_the_last_token_alone(tmp_path: Path) -> None:
    model = wholes.causal(tmp_path)
    tokens = model.read(wholes.TEXT)
    few, whole = model.run(tokens, last=True), model.run(tokens)
    assert few.logits.shape[1] == 1
    found = outcome_of(model, tokens, None, few, 2.0)
    assert found.kind == "next word"
    wanted = (whole.logits[0, -1].double() / 2).softmax(-1)
    assert found.predictions[0].probability == pytest.approx(float(wanted.max()), rel=1e-4)
    assert len(found.predictions) == 10


def test_a_text_without_a_blank_has_a_reason(tmp_path: Path) -> None:
    model = wholes.masked(tmp_path)
    tokens = model.read("the street")
    found = outcome_of(model, tokens, None, model.run(tokens), 1.0)
    assert "fills a blank: put [MASK]" in found.reason
    assert found.beside(found)["reason"] == found.reason


def test_a_vector_and_a_translation(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    model = load(str(tmp_path))
    tokens = model.read("the street")
    found = outcome_of(model, tokens, None, model.run(tokens), 1.0)
    mean: Any = model.network(torch.tensor([tokens.ids])).last[0].mean(0).detach().double().numpy()
    assert found.vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    own = load_own("transformer")
    source = own.read("Ich bin hier.")
    written = own.target(source, None)
    assert outcome_of(own, source, written, None, 1.0).text == "I'm here."
