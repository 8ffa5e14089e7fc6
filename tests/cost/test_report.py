"""The page that answers the question, of numbers that are made up."""

from dataclasses import replace

import pytest

from regard.cost.report import format_costs
from tests.cost.madeup import LENGTHS, made_up


@pytest.mark.parametrize("lengths", [LENGTHS, (1, 2), tuple(range(10_000, 200_000, 9_000))])
def test_the_page_fits_80_columns(lengths: tuple[int, ...]) -> None:
    assert max(map(len, format_costs(made_up(lengths)).plain.split("\n"))) <= 80


def test_the_page_answers_the_question_with_the_numbers_of_the_run() -> None:
    page = " ".join(format_costs(made_up()).plain.split())
    assert "multiplied it by 4.0 with the weights kept and by 4.0 fused" in page
    assert "O(n²) if the weights are kept (×4.0 when n doubles, 2.56 MB at n = 800)" in page
    assert "The exponents are fitted to n = 400 to 800." in page
    assert "exponent 2.00 2.00 1.00 1.00 2.00 1.00 1.00 1.00" in page
    assert "Note:" not in page


def test_an_exponent_far_from_the_formula_is_remarked_upon() -> None:
    page = " ".join(format_costs(made_up(bend=0.5)).plain.split())
    assert "the time of K grew ×5.7, where O(n² d) says ×4 for long texts" in page
    assert "a sign of a busy machine" in page  # no array here is large
    assert "the memory of W grew ×1.4, where O(n d) says ×2 for long texts" in page


def test_large_arrays_have_a_reason_of_their_own() -> None:
    lengths = (2000, 4000)
    page = " ".join(format_costs(made_up(lengths, bend=0.3)).plain.split())
    assert "O(n² d) says ×4 for long texts: the system hands out the memory" not in page
    kept = made_up(lengths, bend=0.3).mechanisms[0]
    large = replace(kept, bytes=(50_000_000, 200_000_000))
    costs = replace(made_up(lengths), mechanisms=(large, *made_up(lengths).mechanisms[1:]))
    page = " ".join(format_costs(costs).plain.split())
    assert "O(n² d) says ×4 for long texts: the system hands out the memory of large" in page
