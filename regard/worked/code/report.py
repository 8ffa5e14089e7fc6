"""Report on code for a reader: which cases are right, what is wrong, the smallest that shows it."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from regard.worked.check import check
from regard.worked.code.faults import CodeReport, Fault
from regard.worked.report import wrong_table
from regard.worked.written import to_toml

LIBRARIES = {"torch": "PyTorch", "numpy": "NumPy"}


def format_code_report(report: CodeReport) -> Group:
    """The whole report, to be printed on a console."""
    library = LIBRARIES.get(report.library, report.library)
    title = f"{report.name}: {report.mechanism}, in {library}"
    lines: list[RenderableType] = [Text(title, style="bold"), ""]
    faulty = list(dict.fromkeys(name for fault in report.wrong for name in fault.cases))
    for mark, style, names in (("✓", "green", report.passed), ("✗", "red", faulty)):
        if names:
            said = f" {'right' if names is report.passed else 'wrong'}: {'; '.join(names)}"
            lines.append(Text(mark, f"bold {style}").append(said, style="default"))
    for fault in report.wrong:
        lines += ["", Text("✗ ", style="bold red").append(fault.says, style="default")]
        lines += _smallest(fault)
    for remark in report.remarks:
        lines += ["", Text("! ", style="bold yellow").append(remark, style="default")]
    return Group(*lines, "", _verdict(report))


def _smallest(fault: Fault) -> list[RenderableType]:
    if fault.example is None:
        return []
    lines: list[RenderableType] = [
        Text(f"The smallest case that shows it ({fault.cases[0]}), as a worked example:", "dim"),
        Padding(Text(to_toml(fault.example, {"claims": "what your code gives"})), (1, 0, 0, 4)),
    ]
    return [*lines, *_table(fault.example)]


def _table(example: dict[str, Any]) -> list[RenderableType]:
    if not example["claims"]:
        return []
    checked = check(example)
    return [wrong_table(checked)] if checked.wrong else []


def _verdict(report: CodeReport) -> Text:
    if report.ok:
        text = Text(f"All {report.right} cases are right.", style="bold green")
        return text.append(" But see the remarks.", style="yellow") if report.remarks else text
    cases = len({name for fault in report.wrong for name in fault.cases})
    return Text(f"{cases} of {cases + report.right} cases are wrong.", "bold red")
