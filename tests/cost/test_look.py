"""What a reader gets to see: the chart, the page, the picture. The numbers are made up."""

import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from regard.cost import MECHANISMS, Cost, Costs, Setting
from regard.cost.chart import MARGIN, ChartLine, loglog
from regard.cost.picture import save_picture
from regard.cost.text import format_costs
from regard.cost.units import in_seconds
from regard.errors import FileError, MissingExtraError

LENGTHS = (100, 200, 400, 800)


def made_up(lengths=LENGTHS, bend=0.0):
    """Costs that follow the formulas exactly, or are off by ``bend`` in the exponent."""
    costs = (
        Cost(
            m,
            lengths,
            tuple(1e-6 * n ** (m.time_power + bend) for n in lengths),
            tuple(round(4 * n ** (m.memory_power - bend)) for n in lengths),
        )
        for m in MECHANISMS
    )
    return Costs(Setting(), lengths, 5, 1, tuple(costs))


def test_a_power_law_is_a_straight_line():
    lines = loglog((1, 10), [ChartLine("A", "red", (1, 10))], in_seconds, columns=8, rows=4)
    body = [line.plain[MARGIN + 1 :] for line in lines[:4]]
    assert body[0][-1] == "A"
    assert body[3][0] == "A"
    # Two cells of braille a row, and each row two columns left of the one above.
    assert [len(row) - len(row.lstrip()) for row in body] == [6, 4, 2, 0]


def test_letters_that_meet_stand_side_by_side():
    same = [ChartLine("A", "red", (1, 10)), ChartLine("B", "blue", (1, 10))]
    lines = loglog((1, 10), same, in_seconds, columns=8, rows=4)
    assert lines[0].plain.endswith("BA")
    assert lines[3].plain[MARGIN + 1 :].startswith("AB")


def test_powers_of_ten_and_lengths_are_labelled():
    lines = loglog((1, 10), [ChartLine("A", "red", (0.001, 0.1))], in_seconds, columns=8, rows=5)
    assert [line.plain[:MARGIN].strip() for line in lines[:5]] == [
        "100 ms",
        "",
        "10 ms",
        "",
        "1 ms",
    ]
    assert lines[-1].plain.split() == ["1", "10"]


def test_a_flat_line_can_be_drawn():
    flat = loglog((1, 10), [ChartLine("A", "red", (3, 3))], in_seconds, columns=8, rows=4)
    assert sum("A" in line.plain for line in flat) == 1


@pytest.mark.parametrize("lengths", [LENGTHS, (1, 2), tuple(range(10_000, 200_000, 9_000))])
def test_the_page_fits_80_columns(lengths):
    assert max(map(len, format_costs(made_up(lengths)).plain.split("\n"))) <= 80


def test_the_page_answers_the_question_with_the_numbers_of_the_run():
    page = " ".join(format_costs(made_up()).plain.split())
    assert "multiplied it by 4.0 with the weights kept and by 4.0 fused" in page
    assert "O(n²) if the weights are kept (×4.0 when n doubles, 2.56 MB at n = 800)" in page
    assert "The exponents are fitted to n = 400 to 800." in page
    assert "exponent 2.00 2.00 1.00 1.00 2.00 1.00 1.00 1.00" in page
    assert "Note:" not in page


def test_an_exponent_far_from_the_formula_is_remarked_upon():
    page = " ".join(format_costs(made_up(bend=0.5)).plain.split())
    assert "the time of K grew ×5.7, where O(n² d) says ×4 for long texts" in page
    assert "a sign of a busy machine" in page  # no array here is large
    assert "the memory of W grew ×1.4, where O(n d) says ×2 for long texts" in page


def test_large_arrays_have_a_reason_of_their_own():
    lengths = (2000, 4000)
    page = " ".join(format_costs(made_up(lengths, bend=0.3)).plain.split())
    assert "O(n² d) says ×4 for long texts: the system hands out the memory" not in page
    kept = made_up(lengths, bend=0.3).mechanisms[0]
    large = replace(kept, bytes=(50_000_000, 200_000_000))
    costs = replace(made_up(lengths), mechanisms=(large, *made_up(lengths).mechanisms[1:]))
    page = " ".join(format_costs(costs).plain.split())
    assert "O(n² d) says ×4 for long texts: the system hands out the memory of large" in page


def test_a_png_is_a_png(tmp_path):
    save_picture(made_up(), tmp_path / "cost.png", "png")
    content = (tmp_path / "cost.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n")
    assert content.endswith(b"IEND\xaeB`\x82")
    assert [file.name for file in tmp_path.iterdir()] == ["cost.png"]


def test_an_svg_has_its_text_as_text_and_is_the_same_each_time(tmp_path):
    for name in ("a.svg", "b.svg"):
        save_picture(made_up(), tmp_path / name, "svg")
    content = (tmp_path / "a.svg").read_text()
    words = [e.text for e in ET.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
    assert "n, positions in the text" in words
    assert any("recurrence (tanh RNN): O(n d²), measured n^1.00" in word for word in words if word)
    assert content == (tmp_path / "b.svg").read_text()


def test_a_picture_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="cannot write"):
        save_picture(made_up(), tmp_path / "none" / "cost.png", "png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"a picture needs .* 'regard\[plot\]'"):
        save_picture(made_up(), tmp_path / "cost.png", "png")
