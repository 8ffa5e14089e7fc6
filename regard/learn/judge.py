"""Judge: whether an answer is right. What is wrong is said without giving the answer away.

A typed number is right if the true one rounds to it, as in worked examples; with fewer than two
decimals it must be the number itself.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from regard.errors import RegardError
from regard.learn.question import Question

if TYPE_CHECKING:
    from regard.worked.check import Report

DECIMALS = 2
"""Digits behind the point that an answer has at least, unless it is exact with fewer."""
EXACT = 1e-9
CHECKED = ("number", "matrix", "word", "step")
"""Kinds of answer that are typed, and judged as they are."""


SAYS = {
    "en": {
        "open": "This one is open: compare with the solution.",
        "number": "a number is wanted, such as 0.37, got {!r}",
        "count": "{} numbers are wanted, got {}",
        "digits": "right so far: give {} digits behind the point",
        "some": "{} of {} are not right",
        "slip": "that is what you get if {}",
        "givens": "its givens are not those of the exercise: copy them as is",
        "claims": "[claims] has no {}",
        "file": "{} of {} numbers are right",
        "function": "name a function of a file, such as mine.py:attend, got {!r}",
    },
    "zh": {
        "open": "这是开放题：请与解答对照。",
        "number": "需要一个数，例如 0.37，得到的是 {!r}",
        "count": "需要 {} 个数，得到 {} 个",
        "digits": "目前正确：请给出小数点后 {} 位",
        "some": "{1} 个数中有 {0} 个不对",
        "slip": "这个数是这样得来的（英文说明）：{}",
        "givens": "文件中的已知量与练习不同：请原样抄写",
        "claims": "[claims] 中缺少 {}",
        "file": "{1} 个数中有 {0} 个正确",
        "function": "请给出文件中的函数，例如 mine.py:attend，得到的是 {!r}",
    },
}
"""What is said about an answer, by language. Usual mistakes and what is wrong with a file or a
function are told by ``regard check``, in English."""


@dataclass(frozen=True)
class Judgement:
    """Whether an answer is right, and what there is to say about it."""

    right: bool
    says: str = ""


def judge(question: Question, answer: str, language: str = "en") -> Judgement:
    """Judge what somebody typed: numbers, a word, the name of a file or of a function in one."""
    answer, words = answer.strip(), SAYS.get(language, SAYS["en"])
    if question.kind == "word":
        return Judgement(plain_word(answer) in words_of(question))
    if question.kind in ("file", "function"):
        return (_file if question.kind == "file" else _function)(question, answer, words)
    if question.kind == "open":
        return Judgement(True, words["open"])
    return _numbers(question, answer, words)


def words_of(question: Question) -> list[str]:
    """All words that are right, as they are compared."""
    return [plain_word(word) for word in question.answer.split("|")]


def plain_word(text: str) -> str:
    """Letters and digits in lower case, whatever marks and spaces stand around them."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", " ", folded).strip()


def true_value(question: Question) -> Any:
    """The right number, or rows of them; a step of a worked example is computed."""
    if question.kind == "step":
        return _computed(question)
    return json.loads(question.answer)


def read_number(text: str) -> Decimal | None:
    """A number as people write it: 0.37, .37, −2, 0,37; None if it is none."""
    text = unicodedata.normalize("NFKC", text).replace("−", "-").strip().rstrip(".")
    if re.fullmatch(r"[+-]?\d*,\d+", text):
        text = text.replace(",", ".")
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def split_numbers(text: str) -> list[str]:
    """Those of rows in reading order: ``[[1, 0.5], [0, 2]]``, ``1 0.5; 0 2``."""
    parts = re.split(r"[\s,;\[\]，；]+", text.strip(" \t\n[]"))
    return [part for part in parts if part]


def decimals(number: Decimal) -> int:
    """How many digits behind the point were written."""
    return max(0, -int(number.as_tuple().exponent))


def fits(typed: Decimal, true: float) -> bool:
    """Whether the true number rounds to what was typed, with digits enough."""
    if decimals(typed) < DECIMALS:
        return abs(float(typed) - true) <= EXACT
    return rounds_to(typed, true)


def rounds_to(typed: Decimal, true: float) -> bool:
    return abs(float(typed) - true) <= 0.5 * 10.0 ** -decimals(typed) + EXACT


def _numbers(question: Question, answer: str, words: dict[str, str]) -> Judgement:
    true = list(flat(true_value(question)))
    typed = []
    for part in [answer] if len(true) == 1 else split_numbers(answer):
        number = read_number(part)
        if number is None:
            return Judgement(False, words["number"].format(part))
        typed.append(number)
    if len(typed) != len(true):
        return Judgement(False, words["count"].format(len(true), len(typed)))
    wrong = [i for i, (a, b) in enumerate(zip(typed, true, strict=True)) if not fits(a, b)]
    if not wrong:
        return Judgement(True)
    if all(rounds_to(a, b) for a, b in zip(typed, true, strict=True)):
        return Judgement(False, words["digits"].format(DECIMALS))
    slip = _slip(question, typed)
    if slip:
        return Judgement(False, words["slip"].format(slip))
    which = words["some"].format(len(wrong), len(true)) if len(true) > 1 else ""
    return Judgement(False, which)


def flat(value: Any) -> Iterator[float]:
    """The numbers of nested rows, in reading order."""
    if isinstance(value, list):
        for part in value:
            yield from flat(part)
    else:
        yield float(value)


def _computed(question: Question) -> Any:
    from regard.worked.example import Example
    from regard.worked.stages import compute

    content = tomllib.loads(question.example, parse_float=Decimal)
    name, *indices = re.findall(r"\w+", question.answer)
    value = compute(Example.from_dict(content)).value(name)
    return value[tuple(int(index) for index in indices)].tolist()


def _slip(question: Question, typed: list[Decimal]) -> str:
    """The usual mistake that gives what was typed, if regard knows it."""
    if question.kind != "step":
        return ""
    report = _report(question, {question.answer: _shaped(typed, true_value(question))})
    slips = [wrong.slip for wrong in report.wrong if wrong.slip]
    return slips[0] if slips else ""


def _shaped(typed: list[Decimal], like: Any) -> Any:
    """The numbers in the rows that the true value has."""
    rest = iter(typed)

    def fill(part: Any) -> Any:
        return [fill(inner) for inner in part] if isinstance(part, list) else next(rest)

    return fill(like)


def _report(question: Question, claims: dict[str, Any]) -> Report:
    from regard.worked.check import check
    from regard.worked.example import Example

    content = tomllib.loads(question.example, parse_float=Decimal)
    return check(Example.from_dict(content | {"claims": claims}))


def _file(question: Question, path: str, words: dict[str, str]) -> Judgement:
    """A file with the same givens, in which the steps asked for are claimed, and rightly."""
    from regard.worked.source import ExampleFile

    try:
        content = dict(ExampleFile.read(path).content)
        claims = content.pop("claims", {})
        given = tomllib.loads(question.example, parse_float=Decimal)
        if content != given:
            return Judgement(False, words["givens"])
        missing = [step for step in question.answer.split() if step not in claims]
        if missing:
            return Judgement(False, words["claims"].format(", ".join(missing)))
        report = _report(question, claims)
    except RegardError as error:
        return Judgement(False, str(error))
    total = report.right + len(report.wrong)
    return Judgement(report.ok, words["file"].format(report.right, total))


def _function(question: Question, named: str, words: dict[str, str]) -> Judgement:
    """Somebody's own function, ``mine.py:attend``, tried with generated cases."""
    from regard.worked.code.judge import SECONDS
    from regard.worked.code.judge import judge as judge_code
    from regard.worked.code.load import load, names_code

    if not names_code(named):
        return Judgement(False, words["function"].format(named))
    try:
        report = judge_code(load(named, SECONDS), mechanism=question.answer)
    except RegardError as error:
        return Judgement(False, str(error))
    return Judgement(report.ok, " ".join(fault.says for fault in report.wrong))
