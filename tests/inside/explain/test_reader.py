"""A step of a network that reads: the numbers of its equations, and what is on its tape."""

from __future__ import annotations

import numpy as np
import pytest

from regard.inside.explain.reader import ReaderModel
from regard.inside.explain.stepending import EndingRequest
from regard.trace import Array
from tests.inside.explain.steps import judge_of, layers_of, lstmn, reader_of, writer_of

TEXT = "the cat sat on the mat"


@pytest.mark.parametrize(("window", "recency"), [(0, 0.0), (3, 2.0)])
def test_the_lstmn_by_its_equations(window: int, recency: float) -> None:
    model = reader_of("lstmn", window=window, recency=recency)
    found = ReaderModel(model).explain(TEXT, "mat", layer=1)
    token, trace = found.token, found.trace
    layers = layers_of(model)
    words = model.network.get_parameter("words").detach().double().numpy()
    x = words[model.read(TEXT).ids]
    below = lstmn(x, layers[0], window or None)[0]
    h, c, recalled, weights = lstmn(below, layers[1], window or None)
    assert trace.value("word") == pytest.approx(below[token], abs=1e-12)
    assert trace.value("recalled before") == pytest.approx(recalled[token - 1], abs=1e-12)
    assert trace.value("weights") == pytest.approx(weights[token], abs=1e-12)
    assert trace.value("recalled state") == pytest.approx(recalled[token], abs=1e-12)
    assert trace.value("cell") == pytest.approx(c[token], abs=1e-12)
    assert trace.value("state") == pytest.approx(h[token], abs=1e-12)
    before = found.reading.labels[:token]
    assert trace["weights"].labels == {"key": before[-3:] if window else before}
    assert ("raised" in trace) == bool(recency)
    shown = np.exp(found.scaled[~np.isnan(found.scaled)])
    assert shown / shown.sum() == pytest.approx(weights[token], abs=1e-12)
    kept = min(window or token + 1, token + 1)
    vocabulary = len(words)
    assert found.proof.numbers == 7 * (2 * kept + 1) + vocabulary
    assert 0 < found.proof.difference < 1e-4
    said = "states, cells, scores of all next words and what was taken from the tapes"
    assert found.proof.what.endswith(said)


@pytest.mark.parametrize("score", ["additive", "dot"])
@pytest.mark.parametrize("form", ["xc", "xch"])
def test_the_simple_network_looks_at_the_word_itself_too(score: str, form: str) -> None:
    model = reader_of("simple-rnn+attention", layers=1, score=score, form=form)
    found = ReaderModel(model).explain(TEXT, "sat")
    trace, token = found.trace, found.token
    assert trace["weights"].labels == {"key": found.reading.labels[: token + 1]}
    (layer,) = layers_of(model)
    w = {name: p.detach().double().numpy() for name, p in layer.named_parameters()}
    assert found.whole is not None
    read = [w["inputs.weight"] @ trace.value("word") + w["inputs.bias"]]
    read.append(w["recurrent"] @ trace.value("context before"))
    if form == "xch":
        read.append(w["previous"] @ found.whole.value(f"layer 0/step {token}/state")[0])
    h = np.tanh(sum(read))
    assert trace.value("state") == pytest.approx(h, abs=1e-12)
    tape = found.whole.value("layer 0/states")[0, : token + 1]
    q, k = w["w_query"] @ h, tape @ w["w_key"].T
    e = k @ q if score == "dot" else np.tanh(k + q) @ w["v"]
    assert trace.value("scores") == pytest.approx(e, abs=1e-12)
    a = np.exp(e) / np.exp(e).sum()
    assert trace.value("context") == pytest.approx(a @ tape, abs=1e-12)
    assert ("h_{t-1}" in trace["state"].formula) == (form == "xch")
    assert found.proof.difference < 1e-5


def shares(scores: Array, temperature: float) -> Array:
    raised = np.exp(scores / temperature)
    found: Array = raised / raised.sum()
    return found


@pytest.mark.parametrize("design", ["lstmn", "simple-rnn+attention"])
@pytest.mark.parametrize("tied", [True, False])
def test_the_next_words_after_a_step_by_their_equations(design: str, tied: bool) -> None:
    model = reader_of(design, tied=tied)
    asked = EndingRequest(temperature=0.5, top=3)
    found = ReaderModel(model).explain(TEXT, "sat", layer=0, asked=asked)
    trace, token = found.trace, found.token
    w = {name: p.detach().double().numpy() for name, p in model.network.named_parameters()}
    assert found.whole is not None
    h = found.whole.value("layer 1/states")[0, token]
    assert trace.value("layer 1/state") == pytest.approx(h, abs=1e-12)
    r = w["readout.weight"] @ h + w["readout.bias"] if tied else h
    assert trace.value("readout") == pytest.approx(r, abs=1e-12)
    assert trace["readout"].formula == ("r_t = R h_t + b_R" if tied else "r_t = h_t")
    goes_on = "goes to the next step" in trace["readout"].meaning
    assert goes_on == (design == "simple-rnn+attention")
    z = w["words" if tied else "output"] @ r + w["bias"]
    best = np.argsort(-z)[:3]
    assert trace.value("logits") == pytest.approx(z[best], abs=1e-12)
    p = shares(z, 0.5)[best]
    assert trace.value("probabilities") == pytest.approx(p, abs=1e-12)
    assert trace["probabilities"].formula == "p_w = exp(z_w / 0.5) / sum_v exp(z_v / 0.5)"
    assert found.predicted is not None
    assert [one.id for one in found.predicted.predictions] == best.tolist()
    assert [one.probability for one in found.predicted.predictions] == pytest.approx(p)
    assert trace["logits"].labels == {"word": [one.word for one in found.predicted.predictions]}
    assert (found.predicted.of, found.predicted.kind) == (len(z), "next word")
    assert found.proof.difference < 1e-4


def test_the_whole_way_shows_all_layers_of_the_last_token() -> None:
    model = reader_of("lstmn")
    found = ReaderModel(model).explain(TEXT, asked=EndingRequest(whole=True))
    assert found.token == len(found.reading) - 1
    below, above = found.trace.value("layer 0/state"), found.trace.value("layer 1/word")
    assert above == pytest.approx(below), "a layer reads what the one below hands on"
    paths = [step.path for step in found.trace]
    assert paths[-3:] == ["readout", "logits", "probabilities"]
    assert len(paths) == len(set(paths))
    n, vocabulary = len(found.reading), found.predicted.of if found.predicted else 0
    assert found.proof.numbers == 2 * 7 * (2 * n + 1) + vocabulary
    assert found.trace.mechanism == f"own step {n}"


@pytest.mark.parametrize("readout", ["attention", "mean", "last"])
def test_the_labels_of_a_classifier_by_their_equations(readout: str) -> None:
    model = judge_of("lstmn", readout=readout)
    found = ReaderModel(model).explain(TEXT, "cat")
    assert found.whole is not None
    trace, h = found.trace, found.whole.value("layer 0/states")[0]
    w = {name: p.detach().double().numpy() for name, p in model.network.named_parameters()}
    a = {"mean": np.full(len(h), 1 / len(h)), "last": np.eye(len(h))[-1]}.get(readout)
    if a is None:
        e = np.tanh(h @ w["key.weight"].T + w["key.bias"]) @ w["query"]
        a = shares(e, 1)
        assert trace.value("readout/weights") == pytest.approx(a, abs=1e-12)
        assert trace["readout/weights"].labels == {"key": found.reading.labels}
    assert trace.value("readout") == pytest.approx(a @ h, abs=1e-12)
    z = w["output.weight"] @ (a @ h) + w["output.bias"]
    order = np.argsort(-z)
    assert trace.value("logits") == pytest.approx(z[order], abs=1e-12)
    assert trace.value("probabilities") == pytest.approx(shares(z, 1)[order], abs=1e-12)
    labels = [("bad", "good")[i] for i in order]
    assert trace["logits"].labels == {"word": labels}
    assert trace["logits"].meaning.endswith("the text."), "all labels are shown"
    assert found.proof.difference < 1e-5


def test_the_first_word_has_an_empty_tape() -> None:
    model = ReaderModel(reader_of("lstmn"))
    found = model.explain(TEXT, "<s>", layer=0)
    assert found.token == 0
    assert "weights" not in found.trace
    assert not found.trace.value("recalled before").any()
    assert np.isnan(found.scaled).all()
    assert found.proof.difference < 1e-5


def test_the_encoder_of_a_translator() -> None:
    found = ReaderModel(writer_of("lstmn-deep"), "encoder").explain(TEXT, "mat")
    assert found.trace["weights"].labels == {"key": found.reading.labels[: found.token]}
    assert found.part == "encoder"
    assert found.predicted is None
    assert "logits" not in found.trace
    assert found.proof.difference < 1e-5


def test_a_classifier_reads_as_a_language_model_does() -> None:
    found = ReaderModel(judge_of("lstmn")).explain(TEXT, "mat", "cat")
    assert found.trace["weights"].labels == {"key": ["▁the", "▁cat", "▁sat", "▁on", "▁the"]}
    assert found.proof.difference < 1e-5
