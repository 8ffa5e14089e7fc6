"""Worked: the steps of a worked example as static tables, each claim beside what it is."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import numpy as np

from regard.text import visible
from regard.trace import Step, Trace
from regard.views.compared import Compared, Index, labels_of, row_label, rows_of
from regard.views.page.file import visible_title
from regard.views.page.inline import source_hash, style
from regard.views.terminal.numbers import decimals, number

MOST_ROWS = 200
"""Rows of a step in a page; the others are counted."""


def worked_section(
    trace: Trace,
    claims: Mapping[str, Compared],
    *,
    memory: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """Every step with its formula and numbers; wrong claims are marked and explained."""
    steps = "".join(_step(trace, step, claims.get(step.path), list(memory)) for step in trace)
    said = "".join(f"<p>{_text(note)}</p>" for note in notes)
    return f'<section class="worked" aria-label="Every step">{said}{steps}</section>'


def worked_page(title: str, section: str) -> str:
    """A page that holds such a section and nothing else: no script, nothing fetched."""
    policy = f"default-src 'none'; style-src {source_hash(style())}; base-uri 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="generator" content="regard">\n'
        f"<title>{html.escape(visible_title(title))}</title>\n<style>{style()}</style>\n</head>\n"
        f"<body>\n<main><h1>{_text(visible_title(title))}</h1>\n{section}</main>\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return html.escape(visible(text))


def _step(trace: Trace, step: Step, claim: Compared | None, memory: list[str]) -> str:
    wrong = len(claim.wrong) if claim else 0
    count = f' <span class="wrong">{wrong} wrong</span>' if wrong else ""
    labels = labels_of(trace, step, memory)
    rows = rows_of(step)
    body = "".join(_row(step, row, labels, claim) for row in rows[:MOST_ROWS])
    more = f"<p>and {len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return (
        f"<h2>{_text(step.path)}{count}</h2><p><code>{_text(step.formula)}</code> "
        f"{_text(step.meaning)}</p><table>{_head(step, labels)}<tbody>{body}</tbody></table>{more}"
    )


def _head(step: Step, labels: dict[int, list[str]]) -> str:
    last = len(step.shape) - 1
    if last not in labels:
        return ""
    cells = "".join(f'<th scope="col">{_text(word)}</th>' for word in labels[last])
    return f"<thead><tr><td></td>{cells}</tr></thead>"


def _row(step: Step, row: Index, labels: dict[int, list[str]], claim: Compared | None) -> str:
    value = np.atleast_1d(np.asarray(step.value[row]))
    places = 0 if value.dtype.kind in "biu" else decimals(np.asarray(step.value))
    wrong = {at[-1] for at in claim.wrong if at[:-1] == row} if claim else set()
    texts = [number(float(v), places) for v in value]
    cells = "".join(
        f'<td class="right">{text}</td>' if i in wrong else f"<td>{text}</td>"
        for i, text in enumerate(texts)
    )
    made = f'<tr><th scope="row">{_text(row_label(labels, row))}</th>{cells}</tr>'
    if claim is None or not wrong:
        return made
    claimed = np.atleast_1d(claim.claimed[row])
    marked = "".join(
        f'<td class="wrong">✗ {number(float(v), places)}</td>'
        if i in wrong
        else f"<td>{'' if np.isnan(v) else number(float(v), places)}</td>"
        for i, v in enumerate(claimed)
    )
    why = "<br>".join(map(_text, claim.reasons(row)))
    return (
        f'{made}<tr class="claimed"><th scope="row">claimed</th>{marked}'
        f'<td class="why">{why}</td></tr>'
    )
