"""What holds for every reader with a tape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from regard import RegardError, record
from regard.recurrent import LSTMN, SelfAttentiveRNN, Tapes
from regard.recurrent.reader import Reader
from tests.recurrent.readers import KINDS, reader, same
from tests.recurrent.reference import random

kinds = pytest.mark.parametrize("kind", KINDS)
windows = pytest.mark.parametrize("window", [None, 1, 2])
grads = pytest.mark.parametrize("grad", [True, False])


def assert_same_state(a: Tapes, b: Tapes) -> None:
    same(a.hidden, b.hidden)
    same(a.summary, b.summary)
    assert (a.cells is None) == (b.cells is None)
    if a.cells is not None and b.cells is not None:
        same(a.cells, b.cells)
    assert a.lengths.tolist() == b.lengths.tolist()


@kinds
@windows
@grads
def test_in_pieces_is_the_same_as_whole(kind: str, window: int | None, grad: bool) -> None:
    net, x = reader(kind, 2, window=window), random(2, 7, 3)
    with torch.set_grad_enabled(grad):
        whole = net(x)
        state, outputs = None, []
        for piece in x.split((3, 0, 1, 3), 1):
            output, state, _ = net(piece, state)
            outputs.append(output)
    same(torch.cat(outputs, 1), whole.output)
    assert state is not None
    assert_same_state(state, whole.state)
    assert whole.state.hidden.shape[2] == (7 if window is None else window)


@kinds
@windows
def test_word_by_word_is_the_same_as_whole(kind: str, window: int | None) -> None:
    for net in (reader(kind, 2, window=window), reader(kind, 2, window=window, batch_first=False)):
        x, state = random(2, 7, 3), None
        whole = net(x if net.batch_first else x.transpose(0, 1))
        for t in range(7):
            h, state = net.step(x[:, t], state)
            same(h, whole.output[:, t] if net.batch_first else whole.output[t])
        assert state is not None
        assert_same_state(state, whole.state)


@kinds
@grads
def test_a_padded_batch_is_each_sequence_by_itself(kind: str, grad: bool) -> None:
    """In two ragged pieces, one sequence empty in the first, one in both, NaN in the padding."""
    net, lengths = reader(kind, 2, window=4), [[5, 0, 2, 0], [1, 3, 4, 0]]
    pieces = [random(4, 5, 3), random(4, 4, 3, seed=1)]
    for piece, ends in zip(pieces, lengths, strict=True):
        for row, end in zip(piece, ends, strict=True):
            row[end:] = math.nan
    with torch.set_grad_enabled(grad):
        state, outputs, weights = None, [], []
        for piece, ends in zip(pieces, lengths, strict=True):
            output, state, a = net(piece, state, lengths=torch.tensor(ends), need_weights=True)
            outputs.append(output)
            weights.append(a[-1])
        assert state is not None
        assert state.lengths.tolist() == [4, 3, 4, 0]
        for b in range(4):
            own = [piece[b, : ends[b]] for piece, ends in zip(pieces, lengths, strict=True)]
            alone = net(torch.cat(own).unsqueeze(0), need_weights=True)
            first, second = lengths[0][b], lengths[1][b]
            got = torch.cat((outputs[0][b, :first], outputs[1][b, :second]))
            same(got, alone.output[0])
            same(state.summary[:, b], alone.state.summary[:, 0])
            words = int(state.lengths[b])
            same(state.hidden[:, b, 4 - words :], alone.state.hidden[:, 0])
            same(weights[0][b, :first, :first], alone.weights[-1][0, :first, :first])
            assert not outputs[0][b, first:].any()
            assert not weights[0][b, first:].any()
            assert not state.hidden[:, b, : 4 - words].any()


@kinds
def test_padding_gets_no_gradient_and_gives_none(kind: str) -> None:
    net, x = reader(kind), random(2, 4, 3)
    x[1, 2:] = math.nan
    x.requires_grad_()
    net(x, lengths=torch.tensor([4, 2])).output.sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()
    assert not x.grad[1, 2:].any()
    assert all(p.grad.isfinite().all() for p in net.parameters() if p.grad is not None)


@kinds
def test_nan_in_one_sequence_leaves_the_others_untouched(kind: str) -> None:
    net, x = reader(kind, 2), random(3, 4, 3)
    clean = net(x).output
    x[1, 2, 0] = math.nan
    spoilt = net(x).output
    assert torch.equal(spoilt[[0, 2]], clean[[0, 2]])
    assert torch.equal(spoilt[1, :2], clean[1, :2])
    assert spoilt[1, 2:].isnan().all()


@kinds
def test_nan_in_one_sequence_leaves_the_gradients_of_the_others_untouched(kind: str) -> None:
    net, gradients = reader(kind, 2), []
    for spoilt in (False, True):
        x = random(3, 4, 3)
        if spoilt:
            x[1, 2, 0] = math.nan
        x.requires_grad_()
        net(x, lengths=torch.tensor([4, 3, 2])).output.sum().backward()
        assert x.grad is not None
        gradients.append(x.grad[[0, 2]])
    assert torch.equal(*gradients)
    assert gradients[0].isfinite().all()


@kinds
def test_gradients(kind: str) -> None:
    net, x = reader(kind, 2, window=3), random(2, 4, 3).requires_grad_()
    names = [name for name, _ in net.named_parameters()]
    before = net(random(2, 2, 3, seed=2)).state.detach()
    hidden = before.hidden.requires_grad_()

    def run(
        x: torch.Tensor, hidden: torch.Tensor, *weights: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        state = before._replace(hidden=hidden)
        given = dict(zip(names, weights, strict=True))
        options = {"lengths": torch.tensor([4, 3]), "need_weights": True}
        read = torch.func.functional_call(net, given, (x, state), options)
        return read.output, read.weights[1], read.state.summary

    assert torch.autograd.gradcheck(run, (x, hidden, *net.parameters()), fast_mode=True)


@kinds
def test_gradients_pass_from_piece_to_piece_unless_detached(kind: str) -> None:
    net, x = reader(kind), random(1, 4, 3).requires_grad_()
    state = net(x[:, :2]).state
    (through,) = torch.autograd.grad(net(x[:, 2:], state).output.sum(), x, retain_graph=True)
    (cut,) = torch.autograd.grad(net(x[:, 2:], state.detach()).output.sum(), x)
    (whole,) = torch.autograd.grad(net(x).output[:, 2:].sum(), x)
    same(through, whole)
    assert not cut[:, :2].any()


@kinds
def test_both_batch_orders(kind: str) -> None:
    first, second = reader(kind, 2), reader(kind, 2, batch_first=False)
    second.load_state_dict(first.state_dict())
    x = random(2, 4, 3)
    same(first(x).output, second(x.transpose(0, 1)).output.transpose(0, 1))


@kinds
def test_a_second_layer_reads_the_first(kind: str) -> None:
    net, x = reader(kind, 2), random(2, 4, 3)
    lower, upper = reader(kind), type(net)(5, 5, **{**KINDS[kind][1], "batch_first": True}).double()
    lower.layers[0].load_state_dict(net.layers[0].state_dict())
    upper.layers[0].load_state_dict(net.layers[1].state_dict())
    same(upper(lower(x).output).output, net(x).output)


@kinds
def test_dropout_acts_between_layers_and_in_training_only(kind: str) -> None:
    net, x = reader(kind, 2, dropout=0.5), random(2, 4, 3)
    torch.manual_seed(1)
    one, two = net(x).output, net(x).output
    assert not torch.equal(one, two)
    net.eval()
    assert torch.equal(net(x).output, net(x).output)
    alone = reader(kind, 1, dropout=0.5)
    assert torch.equal(alone(x).output, alone(x).output)


@kinds
@grads
def test_nothing_to_read(kind: str, grad: bool) -> None:
    net = reader(kind, 2)
    with torch.set_grad_enabled(grad):
        read = net(random(2, 0, 3), need_weights=True)
        none = net(random(0, 4, 3), lengths=torch.zeros(0, dtype=torch.long))
    assert read.output.shape == (2, 0, 5)
    assert read.weights[0].shape == (2, 0, 0)
    assert read.state.lengths.tolist() == [0, 0]
    assert none.output.shape == (0, 4, 5)


@kinds
def test_the_record_names_each_step(kind: str) -> None:
    net = reader(kind)
    with record() as trace:
        read = net(random(1, 3, 3), need_weights=True)
    assert read.weights is not None
    whole = trace["attention"]
    assert (whole.path, whole.axes) == ("layer 0/attention", ("batch", "query", "key"))
    np.testing.assert_array_equal(whole.value, read.weights[0].detach().numpy())
    np.testing.assert_array_equal(trace["states"].value, read.output.detach().numpy())
    weights = trace["layer 0/step 3/weights"].value
    seen = weights.shape[-1]
    np.testing.assert_allclose(weights[0, 0], whole.value[0, 2, :seen], atol=1e-15)
    state = trace["layer 0/step 2/state"]
    assert state.axes == ("batch", "hidden")
    np.testing.assert_array_equal(state.value, read.output[:, 1].detach().numpy())
    same(net(random(1, 3, 3)).output, read.output)
    if kind.startswith("lstmn"):
        assert "layer 0/step 1/weights" not in trace
        for name in ("recalled state", "recalled cell", "input gate", "forget gate", "candidate"):
            assert f"layer 0/step 1/{name}" in trace


@kinds
@grads
def test_sequences_of_length_zero_alone_change_nothing(kind: str, grad: bool) -> None:
    """None of the batch has a word: the state stays what it was, at the start and later."""
    net, none = reader(kind, 2), torch.tensor([0, 0])
    with torch.set_grad_enabled(grad):
        empty = net(random(2, 4, 3), lengths=none)
        before = net(random(2, 3, 3)).state
        after = net(random(2, 4, 3), before, lengths=none)
    assert empty.state.hidden.shape == (2, 2, 0, 5)
    assert not empty.output.any()
    assert_same_state(after.state, before)


def test_inputs_of_the_wrong_shape() -> None:
    for batch_first, order in ((True, "(batch, n, width)"), (False, "(n, batch, width)")):
        with pytest.raises(RegardError) as caught:
            reader("xc dot", batch_first=batch_first)(random(2, 4, 7))
        assert str(caught.value) == f"the input must be {order} with width 3, got (2, 4, 7)"
    with pytest.raises(RegardError, match=r"one word of each sequence is \(batch, width\)"):
        reader("lstmn").step(random(2, 1, 3))


@pytest.mark.parametrize("cls", [LSTMN, SelfAttentiveRNN])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"hidden_size": 0}, "hidden_size must be at least 1, got 0"),
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"dropout": 1.5}, "dropout is the share of values to drop, 0 to 1, got 1.5"),
    ],
)
def test_settings_that_cannot_be(cls: type[Reader], options: dict[str, Any], text: str) -> None:
    with pytest.raises(RegardError) as caught:
        cls(**{"input_size": 3, "hidden_size": 5, **options})
    assert str(caught.value) == text
