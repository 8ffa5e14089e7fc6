"""LayerNorm: recorded or not, it is PyTorch's, and every number of it can be seen."""

from __future__ import annotations

import torch

from regard.models.norm import LayerNorm, moments, standardised
from regard.record import record


def test_both_paths_are_torchs() -> None:
    ours, theirs = LayerNorm(5).double(), torch.nn.LayerNorm(5).double()
    torch.nn.init.normal_(ours.weight)
    torch.nn.init.normal_(ours.bias)
    theirs.load_state_dict(ours.state_dict())
    x = torch.randn(2, 3, 5).double()
    with record() as trace:
        recorded = ours(x)
    torch.testing.assert_close(recorded, theirs(x))
    torch.testing.assert_close(ours(x), theirs(x))
    assert [s.name for s in trace] == ["mean", "variance", "standardised", "normalised"]
    assert trace["mean"].axes == ("batch", "position")


def test_by_hand() -> None:
    x = torch.tensor([[1.0, 3.0]])
    mean, variance = moments(x)
    assert (mean.item(), variance.item()) == (2.0, 1.0)
    assert standardised(x, mean, variance, 0.0).tolist() == [[-1.0, 1.0]]
    assert standardised(x, mean, variance, 3.0).tolist() == [[-0.5, 0.5]]
