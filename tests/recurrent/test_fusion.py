from __future__ import annotations

import numpy as np
import pytest
import torch

from regard import record
from regard.attention import padding
from regard.recurrent.fusion import DeepFusion, Fusion, FusionStep, ShallowFusion
from tests.recurrent import reference
from tests.recurrent.readers import same
from tests.recurrent.reference import random

both = pytest.mark.parametrize("kind", [ShallowFusion, DeepFusion])


def made(kind: type[Fusion]) -> Fusion:
    """3 wide inside, 5 wide states, float64, nothing that is zero by chance."""
    net = kind(3, 5).double()
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return net


class Run(torch.nn.Module):
    """The whole of it as one module."""

    def __init__(self, net: Fusion) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: torch.Tensor, tapes: torch.Tensor, lengths: list[int]) -> FusionStep:
        last = tapes[torch.arange(len(lengths)), torch.tensor(lengths) - 1]
        source = self.net.source(tapes, padding(torch.tensor(lengths), tapes.shape[1]))
        fused: FusionStep = self.net(x, self.net.start(last), source)
        return fused


def run(net: Fusion, x: torch.Tensor, tapes: torch.Tensor, lengths: list[int]) -> FusionStep:
    step: FusionStep = Run(net)(x, tapes, lengths)
    return step


@both
def test_equals_the_equations_written_as_a_loop(kind: type[Fusion]) -> None:
    net, x, tapes, lengths = made(kind), random(7, 2, 3), random(2, 4, 10, seed=1), [4, 2]
    got = run(net, x, tapes, lengths)
    for b, n in enumerate(lengths):
        source = [(row[:5], row[5:]) for row in tapes[b, :n].numpy()]
        states, found, weights = reference.fusion(
            reference.numpy_of(net), x[:, b].numpy(), source, deep=kind is DeepFusion
        )
        for ours, wanted in (
            (got.state[:, b], states),
            (got.found[:, b], found),
            (got.weights[:, b, :n], weights),
        ):
            np.testing.assert_allclose(ours.detach().numpy(), wanted, rtol=0, atol=1e-10)
        assert not got.weights[:, b, n:].any()


@both
def test_gradients(kind: type[Fusion]) -> None:
    net = made(kind)
    x, tapes = random(3, 2, 3).requires_grad_(), random(2, 4, 10, seed=1).requires_grad_()
    whole = Run(net)
    names = [name for name, _ in whole.named_parameters()]

    def call(
        x: torch.Tensor, tapes: torch.Tensor, *weights: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        given = dict(zip(names, weights, strict=True))
        return tuple(torch.func.functional_call(whole, given, (x, tapes, [4, 2])))

    assert torch.autograd.gradcheck(call, (x, tapes, *whole.parameters()), fast_mode=True)


@both
def test_texts_of_one_sentence_share_its_source(kind: type[Fusion]) -> None:
    """Two texts for each of two sentences are the sentences repeated."""
    net, x, tapes = made(kind), random(3, 4, 3), random(2, 4, 10, seed=1)
    source, last = net.source(tapes, None), tapes[:, -1].repeat_interleave(2, 0)
    shared = net(x, net.start(last), source)
    alone = run(net, x, tapes.repeat_interleave(2, 0), [4, 4, 4, 4])
    for ours, wanted in zip(shared, alone, strict=True):
        same(ours, wanted)


@both
def test_nan_in_one_sentence_leaves_the_others_untouched(kind: type[Fusion]) -> None:
    net, x, tapes = made(kind), random(3, 2, 3), random(2, 4, 10, seed=1)
    clean = run(net, x, tapes, [4, 3]).state
    tapes[0, 1] = torch.nan
    spoilt = run(net, x, tapes, [4, 3]).state
    assert torch.equal(spoilt[:, 1], clean[:, 1])
    assert spoilt[:, 0].isnan().all()


@both
def test_the_record_names_each_step(kind: type[Fusion]) -> None:
    net, x, tapes = made(kind), random(3, 1, 3), random(1, 4, 10, seed=1)
    with record() as trace:
        got = run(net, x, tapes, [4])
    weights = trace["step 2/inter-attention/weights"].value
    np.testing.assert_array_equal(weights[0, 0], got.weights[2, 0].detach().numpy())
    assert trace["step 2/intra-attention/weights"].value.shape == (1, 1, 3)
    np.testing.assert_array_equal(trace["step 1/state"].value, got.state[1].detach().numpy())
    assert ("step 1/source gate" in trace) == (kind is DeepFusion)
    formula = trace["step 1/cell"].formula
    assert formula.startswith("c_t = r_t * m~_t") == (kind is DeepFusion)
