"""A step of a recurrent decoder: what asks, what it finds in the source, what it writes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from regard.errors import DataError
from regard.inside.explain.stepending import EndingRequest
from regard.inside.explain.writer import WriterModel
from tests.inside.explain.steps import writer_of

TEXT, TARGET = "the cat sat on the mat", "the dog sat"


def test_bahdanaus_step_by_its_equations() -> None:
    model = writer_of("bahdanau")
    found = WriterModel(model, TARGET).explain(TEXT, "sat")
    trace = found.trace
    w = {name: p.detach().double().numpy() for name, p in model.network.named_parameters()}
    assert found.whole is not None
    assert found.source is not None
    h = found.whole.value("encoder/annotations")[0]
    s, x = trace.value("state before"), trace.value("word")
    e = np.tanh(h @ w["alignment.w_key"].T + w["alignment.w_query"] @ s) @ w["alignment.v"]
    assert trace.value("scores") == pytest.approx(e, abs=1e-12)
    c = np.exp(e) / np.exp(e).sum() @ h
    assert trace.value("context") == pytest.approx(c, abs=1e-12)
    inputs = w["decoder.inputs.weight"] @ x + w["decoder.inputs.bias"]
    z, r, new = np.split(inputs + w["decoder.context.weight"] @ c, 3)
    u_z, u_r = np.split(w["decoder.gates"], 2)
    z, r = (1 / (1 + np.exp(-v)) for v in (z + u_z @ s, r + u_r @ s))
    fresh = np.tanh(new + w["decoder.candidate"] @ (r * s))
    assert trace.value("state") == pytest.approx((1 - z) * s + z * fresh, abs=1e-12)
    assert trace["weights"].labels == {"key": found.source.labels}
    assert found.reading.labels[-1] == "</s>", "the words that are written, not those that are read"
    steps = len(found.reading)
    assert found.proof.numbers == 7 * (steps - 1) + 14 * steps + len(w["vocabulary.bias"]) * steps
    assert 0 < found.proof.difference < 1e-5
    assert trace["update gate"].formula.startswith("z_t = sigmoid(W_z x_t + U_z s_{t-1} + C_z c_t")


@pytest.mark.parametrize("design", ["lstmn-shallow", "lstmn-deep"])
def test_a_decoder_with_two_attentions(design: str) -> None:
    found = WriterModel(writer_of(design), TARGET).explain(TEXT, "sat", "mat")
    trace, token = found.trace, found.token
    assert found.source is not None
    inter, intra = trace["inter-attention/weights"], trace["intra-attention/weights"]
    assert inter.labels == {"key": found.source.labels}
    said = ["<s>", *found.reading.labels][:token]
    assert intra.labels == {"key": ["</s> (source)", *said]}
    assert inter.value == pytest.approx(found.weights)
    assert found.to.text == "mat"
    assert trace["intra-attention/scores"].formula.startswith("e[t,i] = v · tanh(W_h h_i + W_x x")
    assert trace["inter-attention/scores"].formula.startswith("b[t,j] = u · tanh(W_g g_j + W_")
    assert found.proof.difference < 1e-5
    shown = np.exp(found.scaled)
    assert shown / shown.sum() == pytest.approx(found.weights)


@pytest.mark.parametrize("design", ["bahdanau", "lstmn-shallow", "lstmn-deep"])
def test_the_next_words_by_their_equations(design: str) -> None:
    model = writer_of(design)
    asked = EndingRequest(temperature=2.0, top=4)
    found = WriterModel(model, TARGET).explain(TEXT, "dog", asked=asked)
    trace = found.trace
    w = {name: p.detach().double().numpy() for name, p in model.network.named_parameters()}
    gated = design == "bahdanau"
    state = trace.value("state before" if gated else "state")
    took = trace.value("context" if gated else "inter-attention/context")
    given = (state, trace.value("word"), took[: w["readout.parts.2.weight"].shape[1]])
    both = sum(w[f"readout.parts.{k}.weight"] @ x for k, x in enumerate(given))
    t = np.maximum(*np.split(both + w["readout.parts.0.bias"], 2))
    assert trace.value("readout") == pytest.approx(t, abs=1e-12)
    assert ("for the next word" in trace["readout"].meaning) == gated
    z = w["vocabulary.output_words"] @ t + w["vocabulary.bias"]
    best = np.argsort(-z)[:4]
    assert trace.value("logits") == pytest.approx(z[best], abs=1e-12)
    p = np.exp(z / 2) / np.exp(z / 2).sum()
    assert trace.value("probabilities") == pytest.approx(p[best], abs=1e-12)
    assert found.each == ()


def test_the_whole_way_begins_with_the_first_word_and_says_each() -> None:
    model = writer_of("bahdanau")
    found = WriterModel(model, TARGET).explain(TEXT, asked=EndingRequest(whole=True))
    assert found.token == 0
    read = model.read(TEXT)
    own = model.run(read, model.target(read, TARGET))[0].softmax(-1)
    assert len(found.each) == len(found.reading) == len(own)
    assert [said.id for said in found.each] == own.argmax(-1).tolist()
    probable = [said.probability for said in found.each]
    assert probable == pytest.approx(own.amax(-1).tolist(), abs=1e-6)
    content = json.loads(found.to_json())
    assert content["predictions"][0]["id"] == found.each[0].id
    assert [said["id"] for said in content["next"]] == [said.id for said in found.each]
    assert content["proof"]["numbers"] == found.proof.numbers
    assert content["source"] == read.labels


def test_a_model_that_writes_nothing_needs_a_target() -> None:
    with pytest.raises(DataError, match="own wrote nothing for this text: give --target TEXT"):
        WriterModel(writer_of("bahdanau")).explain(TEXT)
