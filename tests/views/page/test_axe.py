"""axe-core (a development tool, ``make script`` fetches it) finds no fault in any view."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import Open
from tests.views.page.cases import TOKENS, observed, saved

AXE = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
VIEWS = ("sentence", "steps", "head", "map", "overview", "reading", "compare")
FINDINGS = """async () => (await axe.run()).violations.map(
    ({ id, nodes }) => [id, ...nodes.map(({ target }) => target.join(' '))])"""


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make script fetches it")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing(scheme: str, width: int, tmp_path: Path, opened: Open) -> None:
    file = saved(observed(TOKENS), tmp_path, model="random")
    sheet = opened(file, "#masked=1", width=width, color_scheme=scheme, reduced_motion="reduce")
    sheet.page.evaluate(AXE.read_text(encoding="utf-8"))
    for view in VIEWS:
        sheet.choose(view=view)
        assert sheet.page.evaluate(FINDINGS) == [], view
