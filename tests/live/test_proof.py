"""The networks in JavaScript compute what PyTorch computes with the same weights."""

from __future__ import annotations

import numpy as np
import pytest

from regard.live.carried import CarriedModel, carry
from regard.live.proof import Expected, difference, proofs, read, translated
from tests.live.conftest import SHIPPED, Living
from tests.live.runs import ODD, TEXTS

GERMAN = (
    "Ich weiß nicht, was ich sagen soll.",
    "Er hat den Schlüssel vergessen und musste draußen warten.",
    "Donaudampfschifffahrt 😀 <s> ist   schön",
)
ENGLISH = ("If I had known that , I would have", "Tom's dog isn't 3.5 years old.", "x 😀 שלום")
MOST = 1e-5


def texts_for(model: CarriedModel) -> tuple[str, ...]:
    if model.name in ODD:
        return tuple(TEXTS)
    return GERMAN if model.task == "translate" else ENGLISH


def expected(model: CarriedModel, text: str) -> Expected:
    run = translated if model.task == "translate" else read
    return run(model.network, model.tokenizer, text)


@pytest.mark.parametrize("name", [*SHIPPED, *ODD])
def test_a_text_gives_what_it_gives_in_python(living: Living, name: str) -> None:
    model = living.models[name]
    for text in texts_for(model):
        ours, theirs = living.look(name, text), expected(model, text)
        assert (ours["model"], ours["text"]) == (name, text)
        weights = np.array(ours["weights"]).reshape(theirs.weights.shape)
        np.testing.assert_allclose(weights, theirs.weights, atol=MOST)
        if model.task == "translate":
            assert ours["output"] == theirs.output
            continue
        assert [one["word"] for one in ours["output"]] == [one["word"] for one in theirs.output]
        chances = [one["probability"] for one in ours["output"]]
        right = [one["probability"] for one in theirs.output]
        np.testing.assert_allclose(chances, right, atol=2 * MOST)


def test_the_page_proves_itself_when_it_is_opened(living: Living) -> None:
    living.sheet.wait("document.getElementById('live-proof').dataset.most !== undefined")
    said = living.sheet.page.text_content("#live-proof")
    for name, model in living.models.items():
        count = len(model.examples)
        assert f"{name}: {count} of {count} stored sentences computed again" in said
    assert float(living.sheet.page.get_attribute("#live-proof", "data-most")) < 2 * MOST


def test_the_difference_of_rounded_weights_is_measured(carried: dict[str, CarriedModel]) -> None:
    moved, other = difference(carried["near"])
    assert 0 < moved < 2e-3
    assert other == 0
    coarse = carry(str(carried["near"].path), bits=8)
    assert difference(coarse)[0] > 2 * moved


def test_an_encoder_decoder_looks_at_nothing(carried: dict[str, CarriedModel]) -> None:
    assert [one.weights.shape[:2] for one in proofs(carried["encoder-decoder"])] == [(0, 1)] * 3
