"""Worked: the static tables of a worked example, safe whatever its words are."""

from __future__ import annotations

import numpy as np

from regard.trace import Step, Trace
from regard.views.compared import Compared
from regard.views.page.worked import worked_page, worked_section

TRACE = Trace(
    [Step("weights", np.array([[0.25, 0.75]]), axes=("query", "key"), formula="a < b")],
    tokens=["<i>", "c"],
)


def test_a_wrong_number_is_marked_beside_the_right_one() -> None:
    claims = {"weights": Compared(np.array([[0.5, 0.75]]), {(0, 0): "<s>"})}
    section = worked_section(TRACE, claims, notes=["one & all"])
    assert '<h2>weights <span class="wrong">1 wrong</span></h2>' in section
    assert '<td class="right">0.2500</td><td>0.7500</td>' in section
    assert '<td class="wrong">✗ 0.5000</td><td>0.7500</td>' in section
    assert "&lt;s&gt;" in section
    assert "<p>one &amp; all</p>" in section
    assert '<th scope="row">&lt;i&gt;</th>' in section
    assert "<i>" not in section


def test_the_page_lets_nothing_run_or_be_fetched() -> None:
    page = worked_page("T", worked_section(TRACE, {}))
    assert "default-src &#x27;none&#x27;; style-src &#x27;sha256-" in page
    assert "<script" not in page
    assert "claimed" not in page.split("</head>")[1]
