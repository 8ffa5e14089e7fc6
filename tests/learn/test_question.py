"""Questions: hints, solutions and answers, or a line that says what is missing."""

from __future__ import annotations

import pytest

from regard.errors import RegardError
from regard.learn.question import questions_of

DETAILS = "<details><summary>x</summary>\n{}\n</details>\n"


def written(solution: str, hints: int = 2) -> str:
    parts = [DETAILS.format("\nhint\n")] * hints + [DETAILS.format(solution)]
    return "### Exercise 1.2: by code\n\nAsked.\n\n```toml\nx = [[1]]\n```\n" + "".join(parts)


def test_a_question_with_a_worked_example() -> None:
    (question,) = questions_of(written("\n<!-- answer: step scores[0] -->\n\nSo.\n"))
    assert (question.kind, question.answer, question.solution) == ("step", "scores[0]", "So.")
    assert question.example == "x = [[1]]\n"
    assert question.text.startswith("Asked.")


def test_an_exercise_in_chinese() -> None:
    text = written("<!-- answer: open -->").replace("Exercise 1.2:", "练习 1.2：")
    assert questions_of(text)[0].title == "by code"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (written("<!-- answer: open -->", hints=1), "exercise 1.2 must have two hints"),
        (written("no answer"), "the solution of exercise 1.2 must begin with"),
        (written("<!-- answer: guess 1 -->"), "KIND one of number, matrix"),
    ],
)
def test_a_question_that_is_not_whole(text: str, said: str) -> None:
    with pytest.raises(RegardError, match=said):
        questions_of(text)
