"""Words erased from tapes: the same numbers as from the loop with that slot forbidden."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

import regard
from regard.models.translators.beam import translate_batch
from regard.models.translators.builder import build
from regard.models.translators.config import sized
from regard.recurrent import LSTMN, SelfAttentiveRNN


def by_hand(model: SelfAttentiveRNN, x: Tensor, erased: int) -> Tensor:
    """h_t = tanh(A[x_t; c_{t-1}] + b), c_t over the states but the erased one, additive."""
    layer: Any = model.layers[0]
    states: list[Tensor] = []
    c, outputs = torch.zeros(model.hidden_size), []
    for t, word in enumerate(x):
        h = torch.tanh(layer.inputs.weight @ word + layer.inputs.bias + layer.recurrent @ c)
        states.append(h)
        kept = [s for i, s in enumerate(states) if i != erased]
        e = (
            torch.stack([layer.v @ torch.tanh(layer.w_key @ s + layer.w_query @ h) for s in kept])
            if kept
            else torch.zeros(0)
        )
        c = sum((w * s for w, s in zip(e.softmax(0), kept, strict=True)), torch.zeros_like(h))
        outputs.append(h)
        assert t + 1 == len(states)
    return torch.stack(outputs)


@torch.no_grad()
def test_a_word_erased_from_the_tape_by_hand() -> None:
    torch.manual_seed(2)
    model = SelfAttentiveRNN(5, 7).eval()
    x = torch.randn(6, 1, 5)
    for erased in (0, 2):
        with regard.intervene(model) as hands:
            hands.mask(key=erased)
            got = model(x).output[:, 0]
        torch.testing.assert_close(got, by_hand(model, x[:, 0], erased))
    before = model(x).output
    with regard.intervene(model):
        assert torch.equal(model(x).output, before)


@torch.no_grad()
def test_steps_lengths_and_weights_agree() -> None:
    torch.manual_seed(2)
    model = LSTMN(5, 7, 2, batch_first=True).eval()
    x, lengths = torch.randn(2, 6, 5), torch.tensor([6, 4])
    with regard.intervene(model) as hands:
        hands.mask(layer=1, key=2)
        fast = model(x, lengths=lengths).output
        told = model(x, lengths=lengths, need_weights=True)
        start = model(x[:, :4], lengths=torch.tensor([4, 2]))
        end = model(x[:, 4:], start.state)
        whole = model(x)
    torch.testing.assert_close(told.output, fast)
    assert told.weights is not None
    assert float(told.weights[1][:, :, 2].abs().max()) == 0
    assert float(told.weights[0][0, 3:, 2].min()) > 0
    torch.testing.assert_close(end.output[0], whole.output[0, 4:])
    with regard.intervene(model) as hands:
        hands.mask(layer=1, key=2)
        row = torch.cat((x[1:, :2], x[1:, 4:]), 1)
        torch.testing.assert_close(end.output[1], model(row).output[0, 2:])


@pytest.mark.parametrize("design", ["bahdanau", "lstmn-shallow", "lstmn-deep"])
@torch.no_grad()
def test_a_source_word_that_the_decoder_may_not_look_at(design: str) -> None:
    torch.manual_seed(4)
    model: Any = build(sized(design, "tiny", 40, width=12, hidden=10, readout=12)).eval()
    source, lengths = torch.randint(4, 40, (2, 6)), torch.tensor([6, 4])
    target = torch.randint(4, 40, (2, 5))
    before = model(source, lengths, target)
    with regard.intervene(model) as hands:
        hands.mask(key=1, kind="cross")
        changed = model(source, lengths, target)
        with regard.record() as trace:
            torch.testing.assert_close(model(source, lengths, target), changed)
        assert float(abs(trace["alignment"].value[..., 1]).max()) == 0
        assert len(translate_batch(model, source, lengths, beam=2)) == 2
    assert not torch.allclose(changed, before, atol=1e-5)
    assert torch.equal(model(source, lengths, target), before)
    assert "encode" not in vars(model)


@torch.no_grad()
def test_what_a_tape_cannot_do_is_refused() -> None:
    x = torch.randn(4, 1, 5)
    plain, windowed = LSTMN(5, 7, attention=False), LSTMN(5, 7, window=3)
    model = LSTMN(5, 7)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (model, {"key": 1, "query": 3}, "leave out query"),
        (model, {"key": 1, "renormalise": False}, "leave out query"),
        (plain, {"key": 1}, "without attention"),
        (windowed, {"key": 1}, "slides off"),
    ]
    for network, change, text in cases:
        with regard.intervene(network) as hands:
            hands.mask(**change)
            with pytest.raises(regard.RegardError, match=text):
                network(x)
            hands.changes.clear()
    with regard.intervene(model) as hands:
        hands.remove(layer=0, head=0)
        with pytest.raises(regard.RegardError, match="has no heads"):
            model(x)
        hands.changes.clear()
