"""What is measured, and settings that cannot be."""

import pytest
import torch

from regard.cost.mechanisms import MECHANISMS
from regard.cost.setting import Setting
from regard.errors import RegardError


def test_the_four_mechanisms_run_what_they_say():
    setting = Setting(width=8, heads=2, window=3)
    kept, fused, windowed, recurrence = (m.prepare(11, setting)() for m in MECHANISMS)
    torch.testing.assert_close(kept.context, fused.context)
    assert kept.weights.shape == (1, 2, 11, 11)
    assert fused.weights is None
    assert not torch.allclose(windowed.context, fused.context)
    assert recurrence[0].shape == (1, 11, 8)


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ({"width": 0}, "the width must be 1 or more, got 0"),
        ({"window": 0}, "the window must be 1 or more, got 0"),
        ({"heads": -1}, "the heads must be 1 or more, got -1"),
        ({"width": 64, "heads": 3}, "the heads must divide the width: got 3 heads for width 64"),
    ],
)
def test_a_setting_that_cannot_be(setting, text):
    with pytest.raises(RegardError) as error:
        Setting(**setting)
    assert str(error.value) == text
