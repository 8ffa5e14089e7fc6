"""Classifiers: padding changes nothing, weights are shares of the words, readouts by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from regard.errors import ConfigError, DataError
from regard.models.classifier import CLASSIFIERS, Classifier, ClassifierConfig, sized
from regard.record import record

V, LABELS = 23, ("bad", "good", "so-so")
FORMS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in CLASSIFIERS),
    ("words", {"readout": "attention"}),
    ("lstm", {"readout": "mean"}),
    ("lstmn", {"readout": "last", "layers": 2}),
    ("transformer", {"readout": "mean", "norm": "post"}),
]


def model(name: str, **changes: Any) -> Classifier:
    torch.manual_seed(2)
    return Classifier(sized(name, "tiny", V, LABELS, **changes)).double().eval()


@pytest.mark.parametrize(("name", "changes"), FORMS)
def test_a_sentence_is_judged_alike_alone_and_in_a_batch(
    name: str, changes: dict[str, Any]
) -> None:
    made = model(name, **changes)
    ids = torch.tensor([[5, 6, 7, 8, 9], [11, 12, 0, 0, 0], [13, 0, 0, 0, 0]])
    lengths = torch.tensor([5, 2, 1])
    logits, weights = made(ids, lengths)
    assert logits.shape == (3, 3)
    for row, n in enumerate(lengths.tolist()):
        alone = made(ids[row : row + 1, :n], lengths[row : row + 1])
        torch.testing.assert_close(logits[row], alone.logits[0])
        torch.testing.assert_close(weights[row, :n], alone.weights[0])
        assert weights[row, :n].sum().item() == pytest.approx(1)
        assert (weights[row, n:] == 0).all()
    right = torch.tensor([2, 0, 1])
    expected = F.cross_entropy(logits, right, reduction="sum")
    torch.testing.assert_close(made.loss(ids, lengths, right), expected)


def test_averaged_word_vectors_by_hand() -> None:
    made = model("words")
    logits, weights = made(torch.tensor([[5, 7, 7, 0]]), torch.tensor([3]))
    mean = (made.words[5] + 2 * made.words[7]) / 3
    torch.testing.assert_close(logits[0], made.output.weight @ mean + made.output.bias)
    assert weights[0].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])


def test_the_attention_readout_by_hand() -> None:
    made = model("words", readout="attention")
    logits, weights = made(torch.tensor([[5, 7]]), torch.tensor([2]))
    states = made.words[[5, 7]]
    keys = torch.tanh(states @ made.key.weight.T + made.key.bias)
    shares = torch.softmax(keys @ made.query, 0)
    torch.testing.assert_close(weights[0], shares)
    torch.testing.assert_close(logits[0], made.output(shares @ states))


def test_the_last_state_is_all_that_counts() -> None:
    made = model("lstm", readout="last")
    _, weights = made(torch.tensor([[5, 6, 7], [5, 6, 0]]), torch.tensor([3, 2]))
    assert weights.tolist() == [[0, 0, 1], [0, 1, 0]]


def test_recording_notes_the_decision() -> None:
    made = model("lstmn")
    ids, lengths = torch.tensor([[5, 6, 7]]), torch.tensor([3])
    with record() as trace, torch.no_grad():
        decision = made(ids, lengths)
    assert trace["readout/weights"].value.squeeze().tolist() == pytest.approx(
        decision.weights[0].tolist()
    )
    assert trace["probabilities"].value.sum() == pytest.approx(1)
    assert trace["layer 0/attention"].shape == (1, 3, 3)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_round_trip_through_json(name: str) -> None:
    config = sized(name, "tiny", V, LABELS)
    content = json.loads(json.dumps(config.to_dict()))
    assert content["labels"] == ["bad", "good", "so-so"]
    assert ClassifierConfig.from_dict(content) == config
    assert config.to_dict() == content, "a resumed run compares the two"


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("words", {"hidden": 3}, "words has no hidden: leave it out, got 3"),
        ("words", {"readout": "last"}, "words sees all words at once"),
        ("lstm", {"readout": "max"}, "readout must be one of attention, mean, last, got 'max'"),
        ("lstm", {"labels": ("a",)}, "labels must be at least two different ones, got ['a']"),
        ("lstm", {"labels": ("a", "a")}, "labels must be at least two different ones"),
    ],
)
def test_what_does_not_fit(name: str, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sized(name, "tiny", V, **({"labels": LABELS} | changes))
    assert text in str(caught.value)


def test_unknown_designs_and_empty_sentences() -> None:
    with pytest.raises(ConfigError, match=r"model must be one of words, .* got 'word'; did you"):
        sized("word", "tiny", V, LABELS)
    with pytest.raises(DataError, match="got lengths from 0 to 2"):
        model("words")(torch.tensor([[5, 6], [0, 0]]), torch.tensor([2, 0]))
