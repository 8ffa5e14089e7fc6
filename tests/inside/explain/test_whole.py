"""The way of a word to what the model puts out, in models of every kind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import DataError, ModelError, RegardError
from regard.inside.explain.whole import explain_whole, similarity
from regard.inside.ownmodel import load_own
from regard.inside.textmodel import load
from regard.trace import Trace
from tests.inside.explain import wholes
from tests.inside.explain.wholes import TEXT
from tests.inside.tinytext import save
from tests.models.bert.tinybert import save_tiny


def softmax(x: Any) -> Any:
    raised = np.exp(x - x.max())
    return raised / raised.sum()


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return wholes.causal(tmp_path_factory.mktemp("llama"))


def test_the_next_words_of_a_decoder(llama: Any) -> None:
    found = explain_whole(llama, TEXT, temperature=0.5, top=4)
    assert found.kind == "next word"
    assert found.row == len(found.reading) - 1
    assert found.shape == (2, 4, 32)
    with torch.no_grad():
        own = llama.network(torch.tensor([found.reading.ids])).logits[0, -1].double().numpy()
    order = np.argsort(-own)[:4]
    assert [said.id for said in found.predictions] == order.tolist()
    probabilities = [said.probability for said in found.predictions]
    assert probabilities == pytest.approx(softmax(own / 0.5)[order], rel=1e-5)
    assert found.of == 300
    assert found.proof.what == "scores"
    assert found.proof.numbers == 300
    assert found.proof.difference < 1e-4
    assert found.proof.sums == 4
    assert "rotary" in found.places


def test_another_word_is_followed_to_what_comes_after_it(llama: Any) -> None:
    found = explain_whole(llama, TEXT, "street")
    assert found.token == "street"
    assert found.reading.words[-3].text == "because"
    assert found.reading.words[-4].stop - 1 == found.row


def test_json_is_a_trace_with_more_beside_it(llama: Any) -> None:
    content = json.loads(explain_whole(llama, TEXT, parts=True, top=2).to_json())
    trace = Trace.from_dict(content)
    assert len(content["predictions"]) == 2
    assert trace["layer 1/hidden"].value.shape == (32,)
    x = trace.value("layer 0/input") + trace.value("layer 0/attention")
    assert x == pytest.approx(trace.value("layer 0/after_attention"), abs=1e-6)
    assert content["proof"]["difference"] < 1e-4
    assert content["parts"]["sum"] == pytest.approx(content["parts"]["score"], abs=1e-4)


def test_a_blank(tmp_path: Path) -> None:
    model = wholes.masked(tmp_path)
    text = "The animal [MASK] cross the street"
    found = explain_whole(model, text)
    assert found.kind == "word in the blank"
    assert found.token == "[MASK]"
    with torch.no_grad():
        own = model.network(torch.tensor([found.reading.ids])).logits[0, found.row].double().numpy()
    assert found.predictions[0].id == own.argmax()
    assert found.predictions[0].probability == pytest.approx(softmax(own).max(), rel=1e-5)
    with pytest.raises(DataError, match=r"fills a blank: put \[MASK\] where a word is missing"):
        explain_whole(model, TEXT)
    network: Any = model.network
    network.cls.predictions.transform.transform_act_fn = torch.nn.Softplus()
    unknown = explain_whole(model, text)
    assert unknown.proof.what == "numbers of the last vector"
    with pytest.raises(ModelError, match="what is no norm, no matrix and no activation"):
        explain_whole(model, text, parts=True)


def test_labels(tmp_path: Path) -> None:
    found = explain_whole(wholes.labelled(tmp_path), TEXT)
    assert found.kind == "label"
    assert {said.word for said in found.predictions} == {"sad", "glad"}
    assert sum(said.probability for said in found.predictions) == pytest.approx(1)
    own = explain_whole(wholes.own_classifier(), "the cat sat")
    assert {said.word for said in own.predictions} == {"bad", "good"}
    with pytest.raises(ModelError, match="puts out the label: only the score of a word"):
        explain_whole(wholes.own_classifier(), "the cat sat", parts=True)


def test_the_vector_of_a_sentence(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    model = load(str(tmp_path), predicts=True)
    found = explain_whole(model, "the animal was too tired", "animal")
    assert found.kind == "sentence vector"
    assert found.layout == "after"
    with torch.no_grad():
        mean = model.network(torch.tensor([found.reading.ids])).last[0].mean(0)
    assert found.sentence == pytest.approx((mean / mean.norm()).numpy(), abs=1e-5)
    similarity(model, found, "the animal was too tired")
    assert found.other is not None
    assert found.other[1] == pytest.approx(1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["T5", "Bart"])
def test_a_translator_of_transformers(tmp_path: Path, family: str) -> None:
    save(tmp_path, family, "ForSeq2SeqLM")
    model = load(str(tmp_path), predicts=True)
    found = explain_whole(model, TEXT, target="The street was wide", parts=True)
    assert found.row == 0
    assert found.source is not None
    assert len(found.steps) == len(found.reading)
    assert found.steps[0].id == found.predictions[0].id
    assert found.parts is not None
    assert found.parts.difference < 1e-4


def test_the_translator_that_comes_with_regard() -> None:
    found = explain_whole(load_own("transformer"), "Der Hund schläft.", "dog", parts=True)
    assert found.token == "▁dog"
    assert found.predictions[0].word == "▁is"
    assert found.parts is not None
    assert found.parts.difference < 1e-4
    sources = dict(
        zip(
            found.source.labels if found.source else [],
            found.parts.sources("cross-attention"),
            strict=True,
        )
    )
    assert max(sources, key=lambda label: sources[label]) in ("▁schl", "äft")


def test_what_does_not_go(llama: Any) -> None:
    with pytest.raises(RegardError, match="puts out the next word: only of a model"):
        similarity(llama, explain_whole(llama, TEXT), "Another text")
    with pytest.raises(RegardError, match="is no translator"):
        explain_whole(llama, TEXT, target="nothing")
