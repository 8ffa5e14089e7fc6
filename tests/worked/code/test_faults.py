"""From wrong answers to faults: where it is right, and one fault for one mistake."""

from __future__ import annotations

from regard.worked.code.candidate import Answer
from regard.worked.code.cases import PLANS, make
from regard.worked.code.faults import faults
from regard.worked.code.trial import Trial


def trial(name: str, fault: str = "", detail: str = "") -> Trial:
    number = [plan.name for plan in PLANS].index(name)
    case = make(PLANS[number], "scaled", ("queries", "keys", "values"), {}, 1, number)
    return Trial(case, Answer(), fault, detail)


def test_nothing_wrong() -> None:
    assert list(faults([trial("two words")])) == []


def test_errors_that_differ_in_sizes_are_one() -> None:
    found = list(
        faults(
            [
                trial("two words"),
                trial("a batch axis", "error", "ValueError: 3 is not 4"),
                trial("batch and head axes", "error", "ValueError: 5 is not 7"),
            ]
        )
    )
    assert [fault.cases for fault in found] == [("a batch axis", "batch and head axes")]
    assert found[0].says.startswith(
        "Right with two axes; with a batch axis in front, it raises ValueError: 3 is not 4."
    )
    assert "swapaxes" in found[0].says


def test_different_faults_are_told_apart() -> None:
    found = list(
        faults(
            [
                trial("two words", "changed", "keys"),
                trial("a row that may attend to nothing", "empty"),
                trial("large scores", "overflow"),
            ]
        )
    )
    assert [fault.name for fault in found] == ["empty", "overflow", "changed"]
    assert found[2].to_dict() == {
        "fault": "changed",
        "says": "It changes its own arguments: keys.",
        "cases": ["two words"],
    }
