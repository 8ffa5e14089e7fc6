"""What is measured, and settings that cannot be."""

from typing import Any

import torch

from regard.cost.mechanisms import MECHANISMS
from regard.cost.setting import Setting


def test_the_four_mechanisms_run_what_they_say() -> None:
    setting = Setting(width=8, heads=2, window=3)
    results: list[Any] = [m.prepare(11, setting)() for m in MECHANISMS]
    kept, fused, windowed, recurrence = results
    torch.testing.assert_close(kept.context, fused.context)
    assert kept.weights.shape == (1, 2, 11, 11)
    assert fused.weights is None
    assert not torch.allclose(windowed.context, fused.context)
    assert recurrence[0].shape == (1, 11, 8)
