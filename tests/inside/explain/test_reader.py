"""A step of a network that reads: the numbers of its equations, and what is on its tape."""

from __future__ import annotations

import numpy as np
import pytest

from regard.inside.explain.reader import ReaderModel
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
    assert found.proof.numbers == 7 * (2 * kept + 1)
    assert 0 < found.proof.difference < 1e-4
    assert found.proof.what.endswith("states, cells and what was taken from the tapes")


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
    assert found.proof.difference < 1e-5


def test_a_classifier_reads_as_a_language_model_does() -> None:
    found = ReaderModel(judge_of("lstmn")).explain(TEXT, "mat", "cat")
    assert found.trace["weights"].labels == {"key": ["▁the", "▁cat", "▁sat", "▁on", "▁the"]}
    assert found.proof.difference < 1e-5
