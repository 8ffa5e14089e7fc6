"""Answers: right, nearly right, wrong in a known way, and no numbers at all."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.learn.course import languages
from regard.learn.judge import SAYS, fits, judge, read_number, split_numbers, true_value
from regard.learn.question import Question

EXAMPLE = """mechanism = "simple"
tokens = ["the", "cat", "sat"]
x = [[1, 0], [0, 2], [1, 1]]
"""


def asked(kind: str, answer: str, example: str = "") -> Question:
    return Question("1.1", "t", f"```toml\n{example}```\n", ("a", "b"), "s", kind, answer)


@pytest.mark.parametrize("typed", ["0.37", "0.374", ".3744", "0,374", " 0.3744 ", "０.37"])
def test_a_number_that_the_true_one_rounds_to(typed: str) -> None:
    assert judge(asked("number", "0.37441"), typed).right


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("0.38", ""),
        ("0.4", "right so far: give 2 digits behind the point"),
        ("many", "a number is wanted, such as 0.37, got 'many'"),
        ("nan", "a number is wanted, such as 0.37, got 'nan'"),
        ("", "a number is wanted, such as 0.37, got ''"),
    ],
)
def test_a_number_that_is_not_right(typed: str, says: str) -> None:
    judgement = judge(asked("number", "0.37441"), typed)
    assert (judgement.right, judgement.says) == (False, says)


def test_a_whole_number_needs_no_decimals() -> None:
    assert judge(asked("number", "-8"), "−8").right
    assert not judge(asked("number", "8"), "7").right


@pytest.mark.parametrize("typed", ["[[1, 0.5], [0, 2]]", "1 0.5; 0 2", "1, 0.50, 0, 2.0"])
def test_rows_of_numbers(typed: str) -> None:
    assert judge(asked("matrix", "[[1, 0.5], [0, 2]]"), typed).right


def test_rows_with_something_wrong() -> None:
    question = asked("matrix", "[1, 0.5, 2]")
    assert judge(question, "1 0.5").says == "3 numbers are wanted, got 2"
    assert judge(question, "1 0.25 3").says == "2 of 3 are not right"


def test_a_word_whatever_stands_around_it() -> None:
    question = asked("word", "L0H2 | layer 0 head 2")
    assert all(judge(question, typed).right for typed in ("l0h2", "*L0H2*.", "Layer 0, head 2"))
    assert not judge(question, "L2H0").right


def test_a_step_is_computed_and_a_slip_is_named() -> None:
    question = asked("step", "weights[0][1]", EXAMPLE)
    assert true_value(question) == pytest.approx(1 / (1 + 2 * 2.718281828), abs=1e-6)
    assert judge(question, "0.155").right
    wrong = judge(asked("step", "weights[1]", EXAMPLE), "0.5000 0.9820 0.8808")
    assert wrong.says.startswith("that is what you get if softmax is taken of each score alone")


def test_a_file_of_claims(tmp_path: Path) -> None:
    question = asked("file", "scores weights", EXAMPLE)
    path = tmp_path / "mine.toml"
    claims = '[claims]\nscores = [[1, 0, 1], [0, 4, 2], [1, 2, 2]]\n"weights[0]" = [1, 0, 0]\n'
    path.write_text(EXAMPLE + claims)
    assert judge(question, str(path)).says == "[claims] has no weights"
    path.write_text(EXAMPLE.replace("2]", "3]") + claims)
    assert judge(question, str(path)).says.startswith("its givens are not those of the exercise")
    claims = claims.splitlines()[1]
    path.write_text(f"{EXAMPLE}[claims]\n{claims}\n")
    assert judge(asked("file", "scores", EXAMPLE), str(path)).right
    path.write_text(f"{EXAMPLE}[claims]\n{claims.replace('4', '5')}\n")
    assert judge(asked("file", "scores", EXAMPLE), str(path)).says == "8 of 9 numbers are right"
    assert "cannot read" in judge(question, str(tmp_path / "none.toml")).says


def test_a_function_of_ones_own(tmp_path: Path) -> None:
    question = asked("function", "scaled")
    path = tmp_path / "mine.py"
    path.write_text(
        "from regard import attend as ours\n"
        "def right(query, key, value, mask=None):\n"
        "    return ours(query, key, value, mask=mask)[0]\n"
        "def plain(query, key, value, mask=None):\n"
        "    scale = key.shape[-1] ** 0.5\n"
        "    return ours(query * scale, key, value, mask=mask)[0]\n"
    )
    assert judge(question, f"{path}:right").right
    wrong = judge(question, f"{path}:plain")
    assert not wrong.right
    assert "the scores are not divided by sqrt(d_k)" in wrong.says
    assert judge(question, "mine").says == (
        "name a function of a file, such as mine.py:attend, got 'mine'"
    )
    assert "none.py" in judge(question, "none.py:attend").says


def test_an_open_question_has_no_wrong_answer() -> None:
    assert judge(asked("open", ""), "whatever").right


def test_numbers_as_people_write_them() -> None:
    assert read_number("1e-2") == Decimal("0.01")
    assert split_numbers("[1,\n -2.5]") == ["1", "-2.5"]
    assert read_number("two") is read_number("inf") is None


def test_every_language_says_all_of_it() -> None:
    assert set(languages()) <= SAYS.keys()
    for words in SAYS.values():
        assert words.keys() == SAYS["en"].keys()


def test_in_chinese() -> None:
    question = asked("matrix", "[[1, 0.5, 2]]")
    assert judge(question, "1 0.5", "zh").says == "需要 3 个数，得到 2 个"
    assert judge(question, "1 0.25 3", "zh").says == "3 个数中有 2 个不对"
    assert judge(question, "1 x 3", "zh").says == "需要一个数，例如 0.37，得到的是 'x'"


@given(st.floats(-1e3, 1e3), st.integers(2, 8))
def test_what_is_rounded_well_is_right_and_the_next_number_is_not(true: float, digits: int) -> None:
    typed = Decimal(f"{true:.{digits}f}")
    assert fits(typed, true)
    assert not fits(typed + 2 * Decimal(1).scaleb(-digits), true)
