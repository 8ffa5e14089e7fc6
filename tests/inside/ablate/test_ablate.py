"""All of it for one text: effects, weights, correlation, baseline."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.inside.ablate.ablate import ablate
from regard.inside.ablate.loading import own_reading
from regard.inside.ablate.measure import rank_correlation
from regard.inside.ablate.request import AblationRequest


def test_every_head_of_a_language_model(trials: dict[str, Any]) -> None:
    trial = trials["Llama"]
    found = ablate(trial, AblationRequest())
    assert found.metric == "probability"
    assert [(e.layer, e.head) for e in found.effects] == [(i, h) for i in (0, 1) for h in range(4)]
    with torch.inference_mode():
        base = trial.run(1)[0, 0].softmax(-1)
        with regard.intervene(trial.network) as hands:
            hands.remove(layer=1, head=2)
            changed = trial.run(1)[0, 0].softmax(-1)
    best = int(base.argmax())
    effect = found.effects[6]
    assert found.base == pytest.approx(float(base[best]), rel=1e-5)
    assert effect.value == pytest.approx(float(changed[best]), rel=1e-4)
    assert effect.change == pytest.approx(effect.value - found.base)
    kl = float((base * (base / changed).log()).sum())
    assert effect.kl == pytest.approx(kl, rel=1e-2, abs=1e-6)
    weights = [e.weight for e in found.effects]
    assert all(w is not None and 0 < w <= 1 for w in weights)
    expected = rank_correlation([w or 0.0 for w in weights], [abs(e.change) for e in found.effects])
    assert found.correlation == pytest.approx(expected)
    assert found.baseline is not None
    assert len(found.baseline.changes) == 8
    content = found.to_json()
    assert [*content][:7] == ["model", "text", "metric", "target", "base", "effects", "correlation"]
    assert [*content["effects"][0]] == ["layer", "head", "weight", "value", "change", "kl"]


def test_a_link_in_all_heads_and_in_each(trials: dict[str, Any]) -> None:
    trial = trials["Llama"]
    found = ablate(trial, AblationRequest(link=("tired", "animal")))
    words = trial.pieces
    query, key = (words.word(name)[0] for name in ("tired", "animal"))
    first, head = found.effects[0], found.effects[1 + 4 + 1]
    assert (first.layer, first.head, first.query, first.key) == (None, None, query, key)
    assert (head.layer, head.head) == (1, 1)
    with torch.inference_mode(), regard.observe(trial.network) as seen:
        trial.run(1)
    weights = seen[1, 1].dense()[query.start : query.stop, key.start : key.stop]
    assert head.weight == pytest.approx(float(weights.sum(-1).mean()), rel=1e-4)
    with torch.inference_mode(), regard.intervene(trial.network) as hands:
        hands.mask(query=range(query.start, query.stop), key=range(key.start, key.stop))
        output = trial.run(1)
    expected = float(output[0, 0].softmax(-1)[trial.wanted[0]])
    assert first.value == pytest.approx(expected, rel=1e-4)
    assert head.to_json()["query"] == query.start
    with pytest.raises(regard.RegardError, match="no such link"):
        ablate(trial, AblationRequest(link=("animal", "tired")))


def test_several_heads_stand_beside_random_others(trials: dict[str, Any]) -> None:
    found = ablate(trials["Llama"], AblationRequest(heads=((0, 1), (1, 3))))
    assert [e.heads for e in found.effects] == [2, 1, 1]
    assert found.baseline is not None
    assert found.baseline.what == "2 other heads"
    assert len(found.baseline.changes) == 20
    again = ablate(trials["Llama"], AblationRequest(heads=((0, 1), (1, 3))))
    assert again.baseline == found.baseline


def test_layers_words_and_links_in_turn(trials: dict[str, Any]) -> None:
    layers = ablate(trials["GPT2"], AblationRequest(each="layers"))
    assert [(e.layer, e.head, e.heads) for e in layers.effects] == [(0, None, 3), (1, None, 3)]
    words = ablate(trials["Roberta"], AblationRequest(each="words"))
    texts = [e.key.text for e in words.effects if e.key is not None]
    assert texts == [
        "The",
        "animal",
        "didn't",
        "cross",
        "the",
        "street",
        "because",
        "it",
        "was",
        "tired",
    ]
    links = ablate(trials["GPT2"], AblationRequest(each="links", heads=((0, 0),)))
    assert len(links.effects) == 10 * 9 / 2
    assert links.correlation is not None


def test_a_model_that_writes(trials: dict[str, Any]) -> None:
    found = ablate(trials["Bart"], AblationRequest(part="cross", by="mean"))
    assert found.metric == "logprob"
    assert {e.part for e in found.effects} == {"cross"}
    assert len(found.effects) == 4
    assert found.base < 0


def test_translators_and_readers_of_the_package() -> None:
    transformer = ablate(
        own_reading("transformer")("Ich habe keine Zeit.", None), AblationRequest(part="cross")
    )
    assert transformer.effects[0].text
    assert "text" in transformer.to_json()["effects"][0]
    recurrent = ablate(own_reading("bahdanau")("Ich habe keine Zeit.", None), AblationRequest())
    assert recurrent.kind == "word"
    assert [e.key.text for e in recurrent.effects if e.key] == ["Ich", "habe", "keine", "Zeit"]
    reader = ablate(own_reading("lstmn")("The cat sat on the", None), AblationRequest(word="sat"))
    assert reader.effects[0].change != 0
    with pytest.raises(regard.RegardError, match="recurrent and has no heads"):
        ablate(own_reading("lstmn")("The cat", None), AblationRequest(heads=((0, 0),)))


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (
            AblationRequest(heads=((2, 0),)),
            "no head 2.0: Llama has layers 0 to 1 with heads 0 to 3",
        ),
        (AblationRequest(layer=7), "there is no layer 7"),
        (AblationRequest(metric="cosine"), "probability or logprob can be measured, got 'cosine'"),
        (AblationRequest(part="cross"), "has the attention self, got --part cross"),
        (AblationRequest(each="links"), "is about one head"),
        (AblationRequest(word="zebra"), "zebra"),
        (AblationRequest(word="animal", estimate=True), "leave out links and words"),
    ],
)
def test_refused(request_: AblationRequest, text: str, trials: dict[str, Any]) -> None:
    with pytest.raises(regard.RegardError, match=text):
        ablate(trials["Llama"], request_)
