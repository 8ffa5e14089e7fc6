"""One head of a model explained: its numbers, its choice, its proof, its mistakes."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.errors import DataError, RegardError, UnknownWordError
from regard.inside.explain import captions
from regard.inside.explain.computed import ComputedModel, computes, forward_pass, proved
from regard.models.bert import file
from regard.models.bert.encoder import BertEncoder
from regard.text import Word
from tests.inside.explain.sentence import SENTENCE
from tests.models.bert.tinybert import save_tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_tiny(folder)
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> ComputedModel:
    return ComputedModel(str(folder))


def test_the_trace_is_computed_by_hand_again(model: ComputedModel) -> None:
    """NumPy in float64, from the weights of the file alone: one head, from the sum of vectors."""
    found = model.explain(SENTENCE, "it", layer=0, head=3)
    trace = found.trace
    p = {n: t.detach().numpy() for n, t in model.exact.named_parameters()}
    ids = np.array(found.reading.ids)
    x = p["embedding.words.weight"][ids] + p["embedding.positions.weight"][: len(ids)]
    x = x + p["embedding.types.weight"][0]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-9)
    x = x * p["embedding.norm.weight"] + p["embedding.norm.bias"]
    np.testing.assert_allclose(trace.value("embedding"), x, atol=1e-12)
    part = slice(3 * 7, 4 * 7)
    q, k, v = (
        x @ p[f"layers.0.attention.{n}.weight"][part].T + p[f"layers.0.attention.{n}.bias"][part]
        for n in ("query", "key", "value")
    )
    e = np.exp(q @ k.T / np.sqrt(7))
    a = e / e.sum(-1, keepdims=True)
    np.testing.assert_allclose(trace.value("weights")[3], a, atol=1e-12)
    np.testing.assert_allclose(trace.value("context")[3], a @ v, atol=1e-12)
    np.testing.assert_allclose(found.weights, a[found.token], atol=1e-12)
    np.testing.assert_allclose(np.exp(found.scaled), e[found.token], atol=1e-9)


def test_the_trace_holds_one_layer(model: ComputedModel) -> None:
    found = model.explain(SENTENCE, "it", layer=2, head=1)
    assert found.trace.mechanism == "tiny layer 2 head 1"
    assert {step.scope.split("/")[0] for step in found.trace} == {"", "layer 2"}
    assert found.trace.value("input").shape == (15, 35)
    assert found.trace.tokens == found.reading.labels


def test_the_proof_sees_a_wrong_number(model: ComputedModel) -> None:
    found = model.explain(SENTENCE, "it", layer=1, head=1)
    n, width, heads = 15, 35, 5
    assert found.proof.numbers == n * (4 * width + heads * n)
    assert 0 < found.proof.difference < 1e-4
    own = forward_pass(model.single, found.reading.ids, 1)
    for name in ("queries", "keys", "weights", "output", "hidden"):
        wrong = {n: v.clone() for n, v in own.items()}
        wrong[name].view(-1)[7] += 0.5
        assert proved(found.trace, wrong).difference == pytest.approx(0.5, abs=1e-3)


def test_the_figures_of_minilm(real: ComputedModel) -> None:
    """it → animal, with layers and heads counted from 0."""
    tired = real.explain(SENTENCE, "it")
    assert tired.choice is not None
    links = [tired.choice.best, *tired.choice.others]
    assert [(k.layer, k.head) for k in links] == [(5, 11), (3, 1), (5, 3)]
    assert [round(k.weight, 3) for k in links] == [0.647, 0.640, 0.250]
    assert {k.to.text for k in links} == {"animal"}
    assert tired.proof.difference < 1e-4
    for word, animal, street in (("tired", 0.640, 0.052), ("wide", 0.266, 0.128)):
        found = real.explain(SENTENCE.replace("tired", word), "it", layer=3, head=1)
        places = [found.reading.labels.index(w) for w in ("animal", "street")]
        assert [round(float(found.weights[j]), 3) for j in places] == [animal, street]
        assert found.proof.difference < 1e-4


def test_mistakes(model: ComputedModel, folder: Path) -> None:
    with pytest.raises(RegardError, match="tiny has 3 layers, counted from 0: layer must be from"):
        model.explain(SENTENCE, layer=3)
    with pytest.raises(RegardError, match=r"tiny has 5 heads, counted from 0: .* got 5"):
        model.explain(SENTENCE, head=5)
    with pytest.raises(UnknownWordError, match=r"'stret' is not one of .*did you mean 'street' or"):
        model.explain(SENTENCE, "stret")
    with pytest.raises(DataError, match="the text has 42 tokens, tiny knows 23 positions"):
        model.explain("it " * 40)
    with pytest.raises(DataError, match="there is no word in the text '\\\\x07'"):
        model.explain("\x07")
    with pytest.raises(DataError, match="nothing can be explained: not in the vocabulary of tiny"):
        model.explain("猫 CC(=O)O")


def test_the_exact_model_shares_the_vectors_of_words_and_computes_as_a_whole_copy(
    folder: Path,
) -> None:
    model = ComputedModel(str(folder))
    ids = torch.tensor(model.read(SENTENCE).ids)
    whole = deepcopy(model.single).double()
    words = model.exact.embedding.words.weight
    assert words is model.single.embedding.words.weight
    assert {p.dtype for p in model.exact.parameters() if p is not words} == {torch.float64}
    assert torch.equal(model.exact(ids).last, whole(ids).last)


def test_each_pass_is_made_once_and_the_weights_are_read_once(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passes: list[str] = []
    reads: list[Path] = []
    forward, read = BertEncoder.forward, file.read_tensors

    def counted(self: BertEncoder, ids: Tensor, **options: Any) -> Any:
        passes.append(str(self.embedding.norm.weight.dtype))
        return forward(self, ids, **options)

    def reading(where: Path) -> Any:
        reads.append(where)
        return read(where)

    monkeypatch.setattr(BertEncoder, "forward", counted)
    monkeypatch.setattr(file, "read_tensors", reading)
    model = ComputedModel(str(folder))
    assert reads == []
    first = model.explain(SENTENCE, "it")
    assert passes == ["torch.float64", "torch.float32"], "the one that is shown, and its proof"
    model.explain(SENTENCE.replace("tired", "wide"), "it", layer=first.layer, head=first.head)
    assert len(passes) == 4
    assert reads == [folder]
    assert first.whole is not None
    assert {s.scope.split("/")[0] for s in first.whole} == {"", "layer 0", "layer 1", "layer 2"}


def test_a_word_of_several_tokens(model: ComputedModel) -> None:
    text = "the unbelievable cat didn't"
    found = model.explain(text, "unbelievable", "didn't", layer=1, head=2)
    assert (found.word, found.to) == (Word("unbelievable", 2, 6), Word("didn't", 7, 10))
    rows = found.trace.value("weights")[2, 2:6, 7:10].sum(-1)
    assert found.share == pytest.approx(rows.mean())
    assert found.token == 2 + rows.argmax()
    share = f"{rows.mean():.3f}"
    assert captions.format_choice(found) == (
        f"As asked. It gives {share} of the attention of 'unbelievable' (4 tokens, their mean) to "
        '"didn\'t" (3 tokens, their sum).'
    )
    label = found.reading.labels[found.token]
    assert captions.format_question(found) == (
        f"What does '{label}' (of the 4 tokens of 'unbelievable' the one that gives most) take "
        "from each token?"
    )
    chosen = model.explain(text, "unbelievable", "didn't")
    assert chosen.choice is not None
    assert chosen.choice.best.weight == pytest.approx(chosen.share)
    assert 'to "didn\'t" (3 tokens, their sum): ' in captions.format_choice(chosen)
    other = model.explain("the cat didn't", "cat", "didn't", layer=1, head=2)
    again = other.trace.value("weights")[2, 2, 3:6].sum()
    change = captions.format_change(other, other)
    assert change.endswith(f"in the first sentence and {again:.3f} in the second.")


def test_escapes_are_written_once(model: ComputedModel) -> None:
    found = model.explain(r"it was \ too", "\\", layer=0, head=0)
    assert captions.format_question(found) == r"What does '\' take from each token?"
    assert r"of '\' to" in captions.format_choice(found)


def test_which_models_regard_computes_itself(folder: Path) -> None:
    assert computes(str(folder))
    assert not computes("smollm2")  # known without fetching it
    (folder.parent / "x.gguf").write_bytes(b"")
    assert not computes(str(folder.parent / "x.gguf"))
