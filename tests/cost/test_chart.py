"""A log-log chart in text."""

from regard.cost.chart import MARGIN, ChartLine, loglog
from regard.cost.units import in_seconds


def test_a_power_law_is_a_straight_line() -> None:
    lines = loglog((1, 10), [ChartLine("A", "red", (1, 10))], in_seconds, columns=8, rows=4)
    body = [line.plain[MARGIN + 1 :] for line in lines[:4]]
    assert body[0][-1] == "A"
    assert body[3][0] == "A"
    # Two cells of braille a row, and each row two columns left of the one above.
    assert [len(row) - len(row.lstrip()) for row in body] == [6, 4, 2, 0]


def test_letters_that_meet_stand_side_by_side() -> None:
    same = [ChartLine("A", "red", (1, 10)), ChartLine("B", "blue", (1, 10))]
    lines = loglog((1, 10), same, in_seconds, columns=8, rows=4)
    assert lines[0].plain.endswith("BA")
    assert lines[3].plain[MARGIN + 1 :].startswith("AB")


def test_powers_of_ten_and_lengths_are_labelled() -> None:
    lines = loglog((1, 10), [ChartLine("A", "red", (0.001, 0.1))], in_seconds, columns=8, rows=5)
    assert [line.plain[:MARGIN].strip() for line in lines[:5]] == [
        "100 ms",
        "",
        "10 ms",
        "",
        "1 ms",
    ]
    assert lines[-1].plain.split() == ["1", "10"]


def test_a_flat_line_can_be_drawn() -> None:
    flat = loglog((1, 10), [ChartLine("A", "red", (3, 3))], in_seconds, columns=8, rows=4)
    assert sum("A" in line.plain for line in flat) == 1
