from __future__ import annotations

import pytest
import torch

from regard.models.dropout import Dropout


def test_drops_its_share_and_scales_the_rest() -> None:
    x = torch.ones(1000, 101)  # odd: the last draw is used in part
    y = Dropout(0.3)(x)
    dropped = (y == 0).double().mean().item()
    assert dropped == pytest.approx(0.3, abs=0.006)  # four standard deviations
    assert torch.unique(y).tolist() == [0, pytest.approx(1 / 0.7, rel=1e-4)]
    assert y.mean().item() == pytest.approx(1, abs=0.01)


def test_neighbours_are_independent() -> None:
    kept = (Dropout(0.5)(torch.ones(100_000)) != 0).double()
    for apart in (1, 2, 3, 4, 8):
        both = (kept[:-apart] * kept[apart:]).mean().item()
        assert both == pytest.approx(0.25, abs=0.006)


def test_the_gradient_passes_where_the_number_passed() -> None:
    x = torch.ones(50, requires_grad=True)
    y = Dropout(0.5)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_the_same_seed_drops_the_same() -> None:
    drop, x = Dropout(0.5), torch.ones(64)
    torch.manual_seed(7)
    first = drop(x)
    torch.manual_seed(7)
    assert torch.equal(first, drop(x))


def test_nothing_is_dropped_outside_training() -> None:
    x = torch.ones(5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x
