"""Worked examples as commands show them: every step, and what the file claims beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.shared.output import say_written, write_page

if TYPE_CHECKING:
    from regard.trace import Trace
    from regard.views.compared import Compared
    from regard.worked.check import Report
    from regard.worked.example import Example


def check_claims(example: Example) -> Report | None:
    """What came of checking the example; None if it claims nothing."""
    from regard.worked.check import check

    return check(example) if example.claims else None


def compared(report: Report | None) -> dict[str, Compared]:
    """The claims by step, and why the wrong ones are wrong."""
    from regard.views.compared import Compared
    from regard.worked.report import because

    if report is None:
        return {}
    found = {
        path: Compared(claim.value, off=claim.tolerance) for path, claim in report.claims.items()
    }
    for wrong in report.wrong:
        found[wrong.step].wrong[wrong.index] = because(report, wrong)
    return found


def print_whole(example: Example, trace: Trace, report: Report | None) -> None:
    """Every step of an example, whatever its mechanism, with what it claims."""
    from rich.text import Text

    from regard.text import visible
    from regard.views.terminal.console import make_console
    from regard.views.terminal.values import print_values
    from regard.worked.report import format_verdict

    console = make_console()
    if example.title:
        console.print(Text(visible(example.title), style="italic"))
    head = Text(example.mechanism, style="bold").append(f": {example.dialect.about}", "default")
    console.print(head)
    console.print(Text(" ".join(map(visible, example.tokens)), style="dim"))
    console.print()
    print_values(trace, console, claims=compared(report), memory=example.memory_tokens)
    for line in _remarks(example, trace, report):
        console.print(Text(visible(line), style="yellow"))
    if report is not None:
        console.print(format_verdict(report))


def print_claims(report: Report | None) -> None:
    """The steps of which something wrong is claimed, after they were explained."""
    if report is None or report.ok:
        return
    from rich.text import Text

    from regard.views.terminal.console import make_console
    from regard.views.terminal.values import print_values
    from regard.worked.report import format_verdict

    console = make_console()
    console.print()
    console.print(Text("What the file claims", style="bold"))
    claims = compared(report)
    only = [path for path, claim in claims.items() if claim.wrong]
    print_values(report.trace, console, claims=claims, memory=report.example.memory_tokens,
                 only=only)  # fmt: skip
    console.print(format_verdict(report))


def write_worked(
    to: str,
    example: Example,
    trace: Trace,
    report: Report | None,
    said: list[str],
    start: dict[str, Any] | None,
    *,
    quietly: bool,
) -> None:
    """The page of an example: the attention in it, if it is explained from ``start`` on, and, if it
    is a file's, every step with what is claimed for it, in numbers that can be changed."""
    from regard.files import write_text
    from regard.views.page import subject_of_trace
    from regard.views.page.worked import Workable, worked_page, worked_section
    from regard.worked.given import given_data
    from regard.worked.report import format_verdict

    title = example.title or f"{example.mechanism}: {' '.join(example.tokens)}"
    notes = [*said, *_remarks(example, trace, report)]
    if report is not None:
        notes.append(format_verdict(report).plain)
    claims = compared(report)
    workable = Workable(given_data(example, trace), example.tolerance)
    section = worked_section(
        trace, claims, memory=example.memory_tokens, notes=notes, workable=workable
    )
    if start is None:
        write_text(to, worked_page(title, section))
        say_written(to, quietly=quietly)
        return
    subject = subject_of_trace(trace, example.title or "", notes=said, start=start)
    write_page(to, subject, quietly=quietly, below=section if example.source else "")


def write_sheet(to: str, made: list[dict[str, Any]]) -> Path:
    """Write the page of a sheet's exercises and, beside it, of their solutions, and say so."""
    from regard.files import write_text
    from regard.views.page.exercises import exercises_page

    target = Path(to)
    beside = target.with_name(f"{target.stem}-solutions{target.suffix}")
    write_text(target, exercises_page(made, solutions=False))
    write_text(beside, exercises_page(made, solutions=True))
    say_written(to, str(beside))
    return beside


def _remarks(example: Example, trace: Trace, report: Report | None) -> list[str]:
    from regard.worked.remarks import remarks_on

    return remarks_on(example, trace, {}) if report is None else report.remarks
