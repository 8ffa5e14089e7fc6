"""Other devices: PyTorch computes, everything stays where it was, and numbers are the same.

No CUDA is needed: a pretended device has shapes and no numbers, and refuses to meet the CPU. With
``--device`` the numbers are compared on a real one.
"""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import regard
from regard.attention.kernel import run
from regard.attention.map import AttentionMap, HeadMap, StoredMap
from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.attention.statistics import of_weights, statistics
from regard.attention.wanted import Wanted

EVERYTHING = Wanted(top=2, entropy=True, received=True, cells=3)
OTHER = "lazy"
"""A device that every build of PyTorch can pretend to have."""


def test_statistics_stay_on_a_device() -> None:
    with FakeTensorMode():
        query, key = (torch.empty(heads, 7, 5, device=OTHER) for heads in (4, 2))
        assert run.usable(query, key) is None, "PyTorch's path"
        rule = Rule(0.3, Mask(causal=True, before=3), torch.empty(4, 7, 7, device=OTHER), 2.0)
        for found in (
            statistics(query, key, rule, EVERYTHING),
            of_weights(torch.empty(4, 7, 11, device=OTHER), EVERYTHING),
        ):
            assert [part is not None and part.device.type for part in found] == [OTHER] * 7


@pytest.mark.parametrize("kind", [HeadMap, StoredMap])
def test_maps_stay_on_a_device(kind: type[AttentionMap]) -> None:
    with FakeTensorMode():
        query, key = (torch.empty(n, 5, device=OTHER) for n in (7, 7))
        stored = StoredMap(torch.empty(7, 7, device=OTHER))
        head = stored if kind is StoredMap else HeadMap(query, key, mask=Mask(causal=True))
        for part in (
            head.dense(),
            head[2],
            head.entropy(),
            head.received(),
            head.pooled(3),
            head.pooled(3, "mean"),
            head.difference(stored).dense(),
        ):
            assert part.device.type == OTHER


def test_attention_stays_on_a_device() -> None:
    with FakeTensorMode(), torch.device(OTHER):
        x = torch.empty(2, 7, 6)
        layer = regard.MultiHeadAttention(6, 3)
        for weights in (False, True):
            mixed = regard.attend(x, x, x, mask=Mask(causal=True), need_weights=weights)
            assert mixed.context.device.type == OTHER
            assert layer(x, mask=Mask(causal=True), need_weights=weights)[0].device.type == OTHER


def test_numbers_are_those_of_the_cpu(device: torch.device) -> None:
    torch.manual_seed(0)
    query, key = (torch.randn(heads, 7, 5, device="cpu") for heads in (4, 2))
    there = statistics(query.to(device), key.to(device), Rule(0.3, Mask(causal=True)), EVERYTHING)
    here = statistics(query, key, Rule(0.3, Mask(causal=True)), EVERYTHING)
    for one, other in zip(there, here, strict=True):
        assert one is not None
        assert one.device.type == device.type
        torch.testing.assert_close(one.cpu(), other, atol=1e-5, rtol=1e-5)
