"""The best continuations: every variant against sorting everything."""

from __future__ import annotations

import math

import pytest
import torch

from regard.attention.kernel.choice import choose
from regard.attention.kernel.library import SWITCH, Kernel

SILENT = torch.tensor([0, 2])


@pytest.mark.parametrize("size", [7, 67, 515])
def test_every_variant_finds_what_sorting_finds(
    size: int, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = torch.Generator().manual_seed(size)
    logits = torch.randn(3 * 5, size, generator=generator) * 4
    scores = torch.randn(3, 5, generator=generator).double()
    scores[1, 2] = -math.inf
    log_p = logits.double().log_softmax(-1)
    log_p[:, SILENT] = -math.inf
    every = (log_p.view(3, 5, -1) + scores.unsqueeze(-1)).flatten(1)
    expected, order = every.sort(descending=True, stable=True)
    for it in kernels:
        monkeypatch.setenv(SWITCH, it.variant)
        given = logits.clone()
        found = choose(given, scores, 11, SILENT)
        assert found is not None
        torch.testing.assert_close(found[0], expected[:, :11], rtol=0, atol=1e-5)
        assert found[1].tolist() == order[:, :11].tolist()
        assert given[:, SILENT].tolist() == [[-math.inf] * 2] * 15
        assert torch.equal(given[:, 3:], logits[:, 3:])


def test_of_equals_the_first_and_nothing_where_there_is_nothing() -> None:
    logits = torch.full((1, 40), -math.inf)
    logits[0, [1, 35, 39]] = 1.0
    found = choose(logits, torch.zeros(1, 1).double(), 5, SILENT)
    if found is None:
        pytest.skip("no kernel here")
    assert found[1].tolist() == [[1, 35, 39, 0, 0]]
    assert found[0].tolist() == [[pytest.approx(-math.log(3))] * 3 + [-math.inf] * 2]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_sum_that_is_no_number_is_not_answered(value: float) -> None:
    logits = torch.zeros(2, 33)
    logits[1] = value
    assert choose(logits, torch.zeros(2, 1).double(), 1, SILENT) is None


@pytest.mark.parametrize("place", [2, 32])  # among whole vectors, and behind them
def test_a_nan_is_found_whatever_its_bits(place: int) -> None:
    logits = torch.zeros(2, 33)
    logits.view(torch.int32)[1, place] = 0x7FC00003
    assert choose(logits, torch.zeros(2, 1).double(), 1, SILENT) is None


def test_what_the_kernel_does_not_take() -> None:
    scores = torch.zeros(2, 1).double()
    assert choose(torch.zeros(2, 9).double(), scores, 1, SILENT) is None
    assert choose(torch.zeros(9, 2).t(), scores, 1, SILENT) is None
    assert choose(torch.zeros(2, 9, requires_grad=True), scores, 1, SILENT) is None
