"""A search of a decoder that says every token with one probability wherever it stands.

What a search of a real Transformer finds: tests/models/translators/test_native.py.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.attention.kernel import library
from regard.attention.kernel.library import NO_MEMORY, NO_TOKEN, Kernel
from regard.attention.kernel.search import FoundPath, search
from regard.attention.kernel.stack import PackedStack, StackLayer

WIDTH = 2
LIKELY = [0.05, 0.05, 0.5, 0.3, 0.1]
"""Of tokens 0 and 1, which are never said, of 2, the end, and of 3 and 4."""
SILENT = torch.tensor([0, 1])


def zeros(ins: int, outs: int) -> nn.Linear:
    linear = nn.Linear(ins, outs)
    for parameter in linear.parameters():
        nn.init.zeros_(parameter)
    return linear


def stack(bias: torch.Tensor, *, cross: bool) -> PackedStack:
    norm, same = nn.LayerNorm(WIDTH), zeros(WIDTH, WIDTH)
    layer = StackLayer(norm, (same,) * 3, same, None, None, None, norm, same, same)
    if cross:
        layer = layer._replace(cross_norm=norm, query=same, cross_out=same)
    out = [(torch.zeros(len(bias), WIDTH), bias)]
    shared: dict[str, Any] = {"heads": 1, "before": True, "activation": "relu", "scale": 1.0}
    return PackedStack([layer], words=torch.ones(5, WIDTH), last=norm, out=out, **shared)


def find(
    it: Kernel, sizes: list[int], limit: int = 9, **asked: Any
) -> list[list[FoundPath]] | None:
    encoder = stack(torch.zeros(2 * WIDTH), cross=False)
    decoder = stack(torch.tensor(LIKELY).log(), cross=True)
    tokens, limits = torch.full((sum(sizes),), 3), np.full(len(sizes), limit)
    options: dict[str, Any] = {"beam": 2, "best": 2, "penalty": 0.0, "layer": 0, "head": -1}
    options |= {"begin": 1, "end": 2, "silent": SILENT} | asked
    positions = torch.zeros(limit, WIDTH)
    return search(it, (encoder, decoder), positions, tokens, np.array(sizes), limits, **options)


def test_the_likeliest_end_first_and_look_evenly(kernels: list[Kernel]) -> None:
    for it in kernels:
        found = find(it, [1, 4, 3])
        assert found is not None
        for size, paths in zip([1, 4, 3], found, strict=True):
            assert [path.said for path in paths] == [[2], [3, 2]]
            expected = [math.log(0.5), math.log(0.3 * 0.5)]
            assert [path.score for path in paths] == pytest.approx(expected, abs=1e-6)
            for path in paths:
                even = torch.full((len(path.said), size), 1 / size)
                torch.testing.assert_close(path.weights, even)


def test_a_penalty_makes_a_longer_one_better(kernels: list[Kernel]) -> None:
    (paths,) = find(kernels[0], [1], beam=3, best=3, penalty=2.0) or []
    assert [path.said for path in paths] == [[3, 2], [2], [4, 2]]
    expected = [math.log(0.3 * 0.5) / 4, math.log(0.5), math.log(0.1 * 0.5) / 4]
    assert [path.score for path in paths] == pytest.approx(expected, abs=1e-6)


def test_what_has_no_end_is_cut(kernels: list[Kernel]) -> None:
    (paths,) = find(kernels[0], [2], limit=1, beam=3, best=3) or []
    assert [path.said for path in paths] == [[2], [3], [4]]
    (greedy,) = find(kernels[0], [2], beam=1, best=1, silent=torch.tensor([0, 1, 2]), limit=4) or []
    assert greedy[0].said == [3, 3, 3, 3]
    assert greedy[0].weights.shape == (4, 2)


def test_outcomes_are_those_of_the_library(kernels: list[Kernel]) -> None:
    header = (Path(library.__file__).parent / "search.h").read_text()
    assert f"NO_MEMORY = {NO_MEMORY}, NO_TOKEN = {NO_TOKEN}," in header
