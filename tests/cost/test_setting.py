"""Settings that cannot be."""

import pytest

from regard.cost.setting import Setting
from regard.errors import RegardError


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ({"width": 0}, "the width must be 1 or more, got 0"),
        ({"window": 0}, "the window must be 1 or more, got 0"),
        ({"heads": -1}, "the heads must be 1 or more, got -1"),
        ({"width": 64, "heads": 3}, "the heads must divide the width: got 3 heads for width 64"),
    ],
)
def test_a_setting_that_cannot_be(setting: dict[str, int], text: str) -> None:
    with pytest.raises(RegardError) as error:
        Setting(**setting)
    assert str(error.value) == text
