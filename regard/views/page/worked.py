"""Worked: the steps of a worked example as tables, each claim beside what it is.

The tables are whole without a script. With what the example is computed from (``Workable``) the
page's script makes every number in them one that can be changed, and computes what follows.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from regard.text import visible
from regard.trace import Array, Step, Trace
from regard.views.compared import Compared, Index, labels_of, row_label, rows_of
from regard.views.page.file import as_json, visible_title
from regard.views.page.inline import headed, policy, script, style
from regard.views.terminal.numbers import decimals, number

MOST_ROWS = 200
"""Rows of a step in a page; the others are counted."""
MOST_NUMBERS = 4000
"""Numbers that a page lets its reader change: each is a field."""
NOTED_AS = {"x": ("embedding", "input"), "s": ("input",), "h": ("memory",), "y": ("word",)}
"""The steps that show a given array; the others have its name."""


@dataclass(frozen=True)
class Workable:
    """What the page's script computes an example from (``script/worked``)."""

    given: Mapping[str, Any]
    tolerance: float | None = None
    """How far a claim may be off, if the example says it; else its digits do."""

    def too_many(self, trace: Trace) -> str:
        """Why its numbers cannot be changed in a page; empty if they can."""
        count = sum(np.size(value) for value in self.given["arrays"].values())
        count += sum(math.prod(step.shape) for step in trace)
        if count <= MOST_NUMBERS and all(len(rows_of(step)) <= MOST_ROWS for step in trace):
            return ""
        return (
            f"Its {count} numbers are shown and cannot be changed here: a page has fields for up "
            f"to {MOST_NUMBERS}, and for steps of up to {MOST_ROWS} rows."
        )


def worked_section(
    trace: Trace,
    claims: Mapping[str, Compared],
    *,
    memory: Sequence[str] = (),
    notes: Sequence[str] = (),
    workable: Workable | None = None,
) -> str:
    """Every step with its formula and numbers; wrong claims are marked and explained."""
    said = list(notes)
    why = workable.too_many(trace) if workable else ""
    said += [why] if why else []
    data = _data(workable, claims) if workable and not why else ""
    given = _given(workable, trace) if workable else ""
    steps = "".join(_step(trace, step, claims.get(step.path), list(memory)) for step in trace)
    told = "".join(f"<p>{_text(note)}</p>" for note in said)
    about = f'<div class="notes">{told}</div>' if told else ""
    return f'<section class="worked" aria-label="Every step">{about}{given}{steps}{data}</section>'


def worked_page(title: str, section: str) -> str:
    """A page that holds such a section and nothing else: nothing is fetched."""
    shown = visible_title(title)
    body = (
        f"<body>\n<main><h1>{_text(shown)}</h1>\n{section}</main>\n"
        f'<script type="module">{script("standalone")}</script>\n</body>\n</html>\n'
    )
    return headed(body, title=shown, rules=policy("standalone"), style=style())


def _text(text: str) -> str:
    return html.escape(visible(text))


def _data(workable: Workable, claims: Mapping[str, Compared]) -> str:
    """What the script computes from, and the claims that it judges."""
    content = {
        "given": workable.given,
        "tolerance": workable.tolerance,
        "claims": {
            path: {"value": _flat(claim.claimed), "off": _flat(claim.off)}
            for path, claim in claims.items()
            if claim.off is not None
        },
    }
    return f'<script type="application/json">{as_json(content)}</script>'


def _flat(values: Array) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in values.flat]


def _given(workable: Workable, trace: Trace) -> str:
    """The arrays and numbers that are given and are no step: those show themselves."""
    paths = {step.path for step in trace}
    arrays = {
        name: np.asarray(value)
        for name, value in workable.given["arrays"].items()
        if not paths & {name, *NOTED_AS.get(name, ())}
    }
    numbers = {name: np.asarray(value) for name, value in workable.given["numbers"].items()}
    if not arrays and not numbers:
        return ""
    made = "".join(_figure(name, value) for name, value in {**arrays, **numbers}.items())
    return f'<h2>Given</h2><div class="given">{made}</div>'


def _figure(name: str, value: Array) -> str:
    rows = np.atleast_2d(value)
    width = rows.shape[1]
    body = "".join(
        f"<tr>{''.join(_cell(_shortest(v), i * width + j) for j, v in enumerate(row))}</tr>"
        for i, row in enumerate(rows.tolist())
    )
    return (
        f'<figure><figcaption>{_text(name)}</figcaption><table data-given="{_text(name)}">'
        f"<tbody>{body}</tbody></table></figure>"
    )


def _shortest(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


def _cell(text: str, at: int, kind: str = "") -> str:
    own = f' class="{kind}"' if kind else ""
    return f'<td{own} data-at="{at}">{text}</td>'


def _step(trace: Trace, step: Step, claim: Compared | None, memory: list[str]) -> str:
    wrong = len(claim.wrong) if claim else 0
    count = f' <span class="wrong">{wrong} wrong</span>' if wrong else ""
    labels = labels_of(trace, step, memory)
    rows = rows_of(step)
    places = 0 if step.value.dtype.kind in "biu" else decimals(np.asarray(step.value))
    body = "".join(
        _row(step, i, row, labels, claim, places) for i, row in enumerate(rows[:MOST_ROWS])
    )
    more = f"<p>and {len(rows) - MOST_ROWS} more rows</p>" if len(rows) > MOST_ROWS else ""
    return (
        f"<h2>{_text(step.path)}{count}</h2><p><code>{_text(step.formula)}</code> "
        f'{_text(step.meaning)}</p><table data-step="{_text(step.path)}" data-places="{places}">'
        f"{_head(step, labels)}<tbody>{body}</tbody></table>{more}"
    )


def _head(step: Step, labels: dict[int, list[str]]) -> str:
    last = len(step.shape) - 1
    if last not in labels:
        return ""
    cells = "".join(f'<th scope="col">{_text(word)}</th>' for word in labels[last])
    return f"<thead><tr><td></td>{cells}</tr></thead>"


def _row(
    step: Step,
    i: int,
    row: Index,
    labels: dict[int, list[str]],
    claim: Compared | None,
    places: int,
) -> str:
    """A row of a step and, if something is claimed for it, the claims; seen if one is wrong."""
    value = np.atleast_1d(np.asarray(step.value[row]))
    first = i * len(value)
    wrong = {at[-1] for at in claim.wrong if at[:-1] == row} if claim else set()
    cells = "".join(
        _cell(number(float(v), places), first + j, "right" if j in wrong else "")
        for j, v in enumerate(value)
    )
    made = f'<tr><th scope="row">{_text(row_label(labels, row))}</th>{cells}</tr>'
    claimed = np.atleast_1d(claim.claimed[row]) if claim else np.empty(0)
    if claim is None or np.isnan(claimed).all():
        return made
    marked = "".join(
        _cell(f"✗ {number(float(v), places)}", first + j, "wrong")
        if j in wrong
        else _cell("" if np.isnan(v) else number(float(v), places), first + j)
        for j, v in enumerate(claimed)
    )
    why = "<br>".join(map(_text, claim.reasons(row)))
    hidden = "" if wrong else " hidden"
    return (
        f'{made}<tr class="claimed"{hidden}><th scope="row">claimed</th>{marked}'
        f'<td class="why">{why}</td></tr>'
    )
