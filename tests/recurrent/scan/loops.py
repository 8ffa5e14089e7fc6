"""The scan of a reader against its loop and against finite differences, for the tests."""

from __future__ import annotations

import torch

from tests.recurrent.readers import reader, same
from tests.recurrent.reference import random

WORDS = [[0, 0, 0], [2, 1, 0], [2, 2, 2]]
"""How many words were read before, by each of three sequences."""


def check_loop(kind: str, window: int | None, words: list[int]) -> None:
    """need_weights takes the loop, which automatic differentiation follows."""
    net, x = reader(kind, 2, window=window), random(3, 5, 3).requires_grad_()
    lengths = torch.tensor([5, 3, 0])
    before = net(random(3, 2, 3, seed=1), lengths=torch.tensor(words)).state.detach()
    parts = [part for part in before[:3] if part is not None]
    wanted = [x, *(part.requires_grad_() for part in parts), *net.parameters()]
    results = []
    for need_weights in (False, True):
        read = net(x, before, lengths=lengths, need_weights=need_weights)
        outputs = [read.output, *(part for part in read.state[:3] if part is not None)]
        loss = sum((out * random(*out.shape, seed=3)).sum() for out in outputs)
        found = torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)
        results.append([*outputs, *found])
    for scanned, looped in zip(*results, strict=True):
        same(scanned, looped)


def check_gradient(kind: str, lengths: torch.Tensor | None) -> None:
    net, x = reader(kind), random(2, 4, 3).requires_grad_()
    names = [name for name, _ in net.named_parameters()]

    def run(x: torch.Tensor, *weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        given = dict(zip(names, weights, strict=True))
        read = torch.func.functional_call(net, given, (x,), {"lengths": lengths})
        return read.output, read.state.summary

    assert torch.autograd.gradcheck(run, (x, *net.parameters()), fast_mode=True)
