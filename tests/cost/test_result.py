"""The exponent that fits what was measured."""

import pytest

from regard.cost.result import exponent, upper


@pytest.mark.parametrize("power", [0, 1, 1.5, 2, 3])
def test_exact_powers_give_their_exponent(power: float) -> None:
    lengths = (3, 17, 40, 100, 256)
    assert exponent(lengths, [7 * n**power for n in lengths]) == pytest.approx(power)


def test_only_the_upper_half_is_fitted() -> None:
    assert [upper(range(count)) for count in (2, 3, 4, 5, 6)] == [2, 2, 2, 3, 3]
    assert exponent((1, 2, 4, 8), [99, 5, 4, 8]) == pytest.approx(1)
