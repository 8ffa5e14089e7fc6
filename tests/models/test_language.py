"""Language models: causal, the same in batches, in pieces and alone, and PyTorch's own numbers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from regard.models.design import DESIGNS
from regard.models.language import LanguageModel, sized
from regard.record import record

V = 23
RECURRENT = DESIGNS[:4]
FORMS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in DESIGNS),
    ("simple-rnn+attention", {"form": "xch", "score": "dot"}),
    ("lstmn", {"layers": 2, "tied": False}),
    ("transformer", {"tied": False}),
]


def model(name: str, **changes: Any) -> LanguageModel:
    torch.manual_seed(1)
    return LanguageModel(sized(name, "tiny", V, **changes)).double().eval()


def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """Three sentences of 7, 4 and 2 tokens, BOS and EOS included."""
    rows = [[2, 5, 6, 7, 8, 9, 3], [2, 11, 12, 3, 0, 0, 0], [2, 3, 0, 0, 0, 0, 0]]
    return torch.tensor(rows), torch.tensor([7, 4, 2])


@pytest.mark.parametrize(("name", "changes"), FORMS)
def test_a_word_does_not_see_what_comes_after_it(name: str, changes: dict[str, Any]) -> None:
    made = model(name, **changes)
    ids = torch.tensor([[2, 5, 6, 7, 8]])
    other = torch.tensor([[2, 5, 6, 9, 10]])
    one, two = made(ids), made(other)
    assert one.shape == (1, 5, V)
    torch.testing.assert_close(one[:, :3], two[:, :3], rtol=1e-12, atol=1e-12)
    assert not torch.allclose(one[:, 3:], two[:, 3:])


@pytest.mark.parametrize(("name", "changes"), FORMS)
def test_the_loss_is_the_cross_entropy_of_the_real_tokens(
    name: str, changes: dict[str, Any]
) -> None:
    made = model(name, **changes)
    ids, lengths = sentences()
    loss = made.loss(ids, lengths)
    alone = sum(
        F.cross_entropy(made(row[None, : n - 1])[0], row[1:n], reduction="sum")
        for row, n in zip(ids, lengths.tolist(), strict=True)
    )
    assert loss.tokens == 6 + 3 + 1
    torch.testing.assert_close(loss.total, alone)


@pytest.mark.parametrize("name", RECURRENT)
def test_a_stream_in_pieces_is_the_stream(name: str) -> None:
    made = model(name)
    ids = torch.randint(4, V, (2, 13))
    whole, _ = made.stream_loss(ids[:, :-1], ids[:, 1:], None)
    first, state = made.stream_loss(ids[:, :5], ids[:, 1:6], None)
    second, _ = made.stream_loss(ids[:, 5:-1], ids[:, 6:], state)
    torch.testing.assert_close(first + second, whole)


def test_padding_is_no_target() -> None:
    made = model("lstm")
    ids = torch.tensor([[3, 5, 6, 7], [7, 8, 0, 0]])
    loss, _ = made.stream_loss(ids[:, :-1], ids[:, 1:], None)
    first, _ = made.stream_loss(ids[:1, :-1], ids[:1, 1:], None)
    second, _ = made.stream_loss(ids[1:, :1], ids[1:, 1:2], None)
    torch.testing.assert_close(loss, first + second)


def test_the_lstm_is_pytorchs() -> None:
    made = model("lstm", layers=2, tied=False)
    theirs = nn.LSTM(64, 117, 2, batch_first=True).double()
    weights = dict(theirs.named_parameters())
    with torch.no_grad():
        for k, layer in enumerate(made.body.reader.parts()):  # type: ignore[union-attr,operator]
            weights[f"weight_ih_l{k}"].copy_(layer.inputs.weight)
            weights[f"bias_ih_l{k}"].copy_(layer.inputs.bias)
            weights[f"weight_hh_l{k}"].copy_(layer.recurrent)
            weights[f"bias_hh_l{k}"].zero_()
    ids = torch.randint(4, V, (3, 8))
    states, _ = theirs(F.embedding(ids, made.words))
    assert made.output is not None
    torch.testing.assert_close(made(ids), F.linear(states, made.output, made.bias))


def test_tied_words_are_one_matrix() -> None:
    tied, free = model("lstmn"), model("lstmn", tied=False)
    assert tied.output is None
    assert isinstance(tied.readout, nn.Linear)
    assert free.output is not None
    assert free.output.shape == (V, 96)


@pytest.mark.parametrize("name", ["simple-rnn+attention", "lstmn"])
def test_recording_notes_what_each_word_attends_to(name: str) -> None:
    made = model(name)
    ids = torch.tensor([[2, 5, 6, 7]])
    with record() as trace, torch.no_grad():
        noted = made(ids)
    weights = trace["layer 0/attention"].value[0]
    own = 1 if name == "simple-rnn+attention" else 0  # it sees the word itself as well
    assert weights.shape == (4, 4)
    for t in range(4):
        assert weights[t, : t + own].sum() == pytest.approx(1.0 if t + own else 0.0)
        assert (weights[t, t + own :] == 0).all()
    torch.testing.assert_close(noted, made(ids))


def test_dropout_is_off_when_evaluating() -> None:
    made = model("lstm", dropout=0.5)
    ids = torch.randint(4, V, (2, 5))
    assert torch.equal(made(ids), made(ids))
    made.train()
    assert not torch.equal(made(ids), made(ids))
