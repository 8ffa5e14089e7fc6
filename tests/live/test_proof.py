"""The networks in JavaScript compute what PyTorch computes with the same weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from regard.live.carried import CarriedModel, carry
from regard.live.examples import ExampleImage
from regard.live.proof import RUN, difference, proofs
from tests.live.conftest import SENTENCES, SHIPPED, Living
from tests.live.runs import ODD, TEXTS

GERMAN = (
    "Ich weiß nicht, was ich sagen soll.",
    "Er hat den Schlüssel vergessen und musste draußen warten.",
    "Donaudampfschifffahrt 😀 <s> ist   schön",
)
ENGLISH = ("If I had known that , I would have", "Tom's dog isn't 3.5 years old.", "x 😀 שלום")
MOST = 1e-5


def given_to(model: CarriedModel) -> Sequence[str | ExampleImage]:
    if model.task == "images":
        return model.examples
    if model.task == "sentence":
        return (*SENTENCES, "UnBelievable 😀 [SEP] cät 中文", "crossing")
    if model.name in ODD:
        return tuple(TEXTS)
    return GERMAN if model.task == "translate" else ENGLISH


@pytest.mark.parametrize("name", [*SHIPPED, *ODD, "tiny-bert"])
def test_a_text_or_image_gives_what_it_gives_in_python(living: Living, name: str) -> None:
    model = living.models[name]
    for given in given_to(model):
        asked = given if isinstance(given, str) else given.pixels.ravel().tolist()
        ours = living.look(name, asked)
        theirs = RUN[model.task](model.network, model.tokenizer, given)
        assert ours["model"] == name
        assert ours["text"] == (given if isinstance(given, str) else "28 × 28")
        weights = np.array(ours["weights"]).reshape(theirs.weights.shape)
        np.testing.assert_allclose(weights, theirs.weights, atol=MOST)
        if model.task == "translate":
            assert ours["output"] == theirs.output
            continue
        if model.task == "sentence":
            np.testing.assert_allclose(ours["output"], theirs.output, atol=MOST)
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
        assert f"{name}: {count} of {count} stored examples computed again" in said
    assert float(living.sheet.page.get_attribute("#live-proof", "data-most")) < 2 * MOST


def test_the_difference_of_rounded_weights_is_measured(carried: dict[str, CarriedModel]) -> None:
    moved, other = difference(carried["near"])
    assert 0 < moved < 2e-3
    assert other == 0
    coarse = carry(str(carried["near"].path), bits=8)
    assert difference(coarse)[0] > 2 * moved


def test_an_encoder_decoder_looks_at_nothing(carried: dict[str, CarriedModel]) -> None:
    assert [one.weights.shape[:2] for one in proofs(carried["encoder-decoder"])] == [(0, 1)] * 3


def test_a_transformer_has_its_own_attention_beside_that_of_the_translation(
    carried: dict[str, CarriedModel],
) -> None:
    for one in proofs(carried["transformer"]):
        queries, keys = one.weights.shape[-2:]
        encoder, decoder = one.own
        assert (encoder.shape[-2:], decoder.shape[-2:]) == ((keys, keys), (queries, queries))
        np.testing.assert_allclose(encoder.sum(-1), 1, atol=1e-5)
        assert (np.triu(decoder, 1) == 0).all()  # nothing looks at what is not written yet
