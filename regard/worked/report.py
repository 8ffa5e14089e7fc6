"""Report for a reader: which numbers are wrong, what they should be, what went wrong first."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from regard.text import visible
from regard.worked.check import Report, RunReport, Wrong
from regard.worked.claims import BLANK
from regard.worked.working import working


def format_report(report: Report) -> Group:
    """The whole report, to be printed on a console."""
    example = report.example
    layout = f", {example.layout}" if example.matrices else ""
    words = " ".join(visible(t) for t in example.tokens)
    lines: list[RenderableType] = [
        Text(visible(example.title) or "Worked example", style="bold"),
        Text(f"{example.mechanism}{layout}: {words}", style="dim"),
        "",
    ]
    longest = max((16, *(len(name) + 2 for name in report.claims)))
    for name, claim in report.claims.items():
        bad = sum(w.step == name for w in report.wrong)
        total = int(claim.made.sum())
        mark = Text("✗ " if bad else "✓ ", style="bold red" if bad else "bold green")
        state = f"{bad} of {total} wrong" if bad else f"{total} right"
        if not total:
            mark, state = Text("· ", style="dim"), "blank"
        lines.append(mark.append(f"{name:<{longest}}{state}", style="default"))
    if report.wrong:
        lines += ["", wrong_table(report)]
    for remark in report.remarks:
        lines += ["", Text("! ", style="bold yellow").append(remark, style="default")]
    return Group(*lines, "", format_verdict(report))


def format_runs(report: RunReport) -> Group:
    """Claims about runs, after the numbers claimed beside them."""
    lines: list[RenderableType] = []
    if report.numbers is not None:
        lines += [format_report(report.numbers), ""]
    for result in report.results:
        claim = result.claim
        mark, style = ("✓ ", "bold green") if result.right else ("✗ ", "bold red")
        said = f"{visible(claim.command)}: {visible(claim.path)} is {visible(str(result.got))}"
        claimed = "" if result.right else f", claimed {visible(str(claim.value))}"
        lines.append(Text(mark, style).append(f"{said}{claimed}", style="default"))
    wrong = sum(not result.right for result in report.results)
    text = f"{wrong} of {len(report.results)} claims about runs are wrong."
    if not wrong:
        text = f"All {len(report.results)} claims about runs are right."
    return Group(*lines, "", Text(text, "bold red" if wrong else "bold green"))


def wrong_table(report: Report) -> Padding:
    """Each wrong number, what it should be and why."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column, justify in (("wrong", "left"), ("claimed", "right"), ("correct", "right")):
        table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("because", overflow="fold")
    for wrong in report.wrong:
        table.add_row(
            Text(place(wrong)),
            Text(f"{wrong.claimed:.6g}", style="red"),
            Text(f"{wrong.correct:.6g}", style="green"),
            Text(because(report, wrong)),
        )
    return Padding(table, (0, 0, 0, 2), expand=False)


def because(report: Report, wrong: Wrong) -> str:
    """How the right number comes about, and what made the wrong one, where that is known."""
    how = working(report.example, report.trace, wrong.step, wrong.index)
    if wrong.slip:
        how += f"; {wrong.claimed:g} is what you get if {wrong.slip}"
    return f"{how}  (follows from the numbers claimed before)" if wrong.carried else how


def format_verdict(report: Report) -> Text:
    """How many are wrong, and where it went wrong first."""
    right = report.right
    if not report.wrong and not right:
        return Text(f"Nothing is filled in yet: put a number for each {BLANK}.", style="bold")
    if not report.wrong:
        text = Text(f"All {right} numbers are right.", style="bold green")
        return text.append(" But see the remarks.", style="yellow") if report.remarks else text
    first = report.wrong[0]
    own = sum(not w.carried for w in report.wrong)
    carried = len(report.wrong) - own
    text = Text(f"{len(report.wrong)} of {right + len(report.wrong)} numbers are wrong", "bold red")
    text.append(f": {own} by themselves" if carried else "", style="default")
    text.append(f", {carried} because of earlier ones" if carried else "", style="default")
    text.append(f". It went wrong first at {place(first)}: ", style="default")
    return text.append(f"{first.claimed:g} should be {first.correct:.6g}.", style="default")


def place(wrong: Wrong) -> str:
    """``scores[0][1]``"""
    return wrong.step + "".join(f"[{i}]" for i in wrong.index)
