"""Which outputs were added to which inputs: found among all that ran, by the numbers alone."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.errors import ModelError
from regard.inside.anatomy.runs import ModuleRun
from regard.inside.anatomy.sums import find_sums

N, D = 3, 5


def vectors(seed: int) -> Tensor:
    return torch.randn(N, D, generator=torch.Generator().manual_seed(seed))


def run(name: str, given: Tensor, made: Tensor, module: nn.Module | None = None) -> ModuleRun:
    return ModuleRun(name, nn.Linear(2, 2) if module is None else module, given, made)


def test_one_after_the_other() -> None:
    x, a, f = vectors(0), vectors(1), vectors(2)
    runs = [run("attention", x, a), run("wide", x + a, vectors(3)), run("narrow", vectors(4), f)]
    sums = find_sums(run("layer", x, x + a + f), runs)
    assert [[part.run.name for part in found.parts] for found in sums] == [
        ["attention"],
        ["narrow"],
    ]
    assert torch.equal(sums[1].before, x + a)
    assert max(found.difference for found in sums) < 1e-6


def test_side_by_side_and_with_a_factor() -> None:
    x, a, f = vectors(0), vectors(1), vectors(2)
    runs = [run("attention", x, a), run("narrow", vectors(4), f)]
    (beside,) = find_sums(run("layer", x, f + a + x), runs)
    assert [part.run.name for part in beside.parts] == ["attention", "narrow"]
    (scaled,) = find_sums(run("layer", x, x + 0.25 * f), runs)
    assert scaled.parts[0].run.name == "narrow"
    assert scaled.parts[0].factor == pytest.approx(0.25)


def test_a_normed_sum_goes_on_as_the_stream() -> None:
    x, a, f = vectors(0), vectors(1), vectors(2)
    norm = nn.LayerNorm(D)
    middle = norm(x + a).detach()
    runs = [
        run("attention", x, a),
        run("norm", x + a, middle, norm),
        run("wide", middle, vectors(3)),
        run("narrow", vectors(4), f),
    ]
    first, second = find_sums(run("layer", x, middle + f), runs)
    assert torch.equal(first.after, x + a)
    assert torch.equal(second.before, middle)


def test_what_holds_in_some_tokens_only_is_no_sum() -> None:
    x, a = vectors(0), vectors(1)
    y = x + a
    y[1, 2] += 0.01
    with pytest.raises(ModelError, match="what layer hands on is no sum"):
        find_sums(run("layer", x, y), [run("attention", x, a)])
    with pytest.raises(ModelError, match="does not hand on vectors of the kind"):
        find_sums(run("layer", x, torch.zeros(N, D + 2)), [])
