"""Report for a reader: which numbers are wrong, what they should be, what went wrong first."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from regard.text import visible
from regard.worked.check import Report, Wrong
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
    for name, claim in report.claims.items():
        bad = sum(w.step == name for w in report.wrong)
        total = int(claim.made.sum())
        mark = Text("✗ " if bad else "✓ ", style="bold red" if bad else "bold green")
        state = f"{bad} of {total} wrong" if bad else f"{total} right"
        lines.append(mark.append(f"{name:<16}{state}", style="default"))
    if report.wrong:
        lines += ["", wrong_table(report)]
    for remark in report.remarks:
        lines += ["", Text("! ", style="bold yellow").append(remark, style="default")]
    return Group(*lines, "", _verdict(report))


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
            Text(_because(report, wrong)),
        )
    return Padding(table, (0, 0, 0, 2), expand=False)


def _because(report: Report, wrong: Wrong) -> str:
    how = working(report.example, report.trace, wrong.step, wrong.index)
    if wrong.slip:
        how += f"; {wrong.claimed:g} is what you get if {wrong.slip}"
    return f"{how}  (follows from the numbers claimed before)" if wrong.carried else how


def _verdict(report: Report) -> Text:
    right = report.right
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
