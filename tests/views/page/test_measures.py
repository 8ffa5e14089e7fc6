"""The page with a measure in place of its weights, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from regard.inside.look.look import look
from regard.inside.look.page import open_at
from regard.inside.measures.measure import measured_maps
from regard.inside.textmodel import load
from regard.pieces.look import LookRequest
from regard.views.page.file import save_html
from tests.browser import Open
from tests.models.bert.tinybert import save_tiny

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A page that opens on value zeroing, and all maps that it can show."""
    folder = tmp_path_factory.mktemp("measured")
    save_tiny(folder)
    model = load(str(folder))
    tokens = model.read(TEXT)
    found = look(model, tokens, LookRequest(page=True, measure="value-zeroing"))
    assert found.page is not None
    save_html(folder / "page.html", open_at(found.page, found, TEXT))
    names = ("norm", "rollout", "value-zeroing")
    run = lambda: model.run(tokens)  # noqa: E731
    return folder / "page.html", {n: measured_maps(model.network, run, n) for n in names}


def choose(sheet: Any, name: str) -> None:
    sheet.page.locator(".measures summary").click()
    sheet.page.locator(f".measures input[value={name}]").click()
    sheet.wait(f"location.hash.includes('measure={name}')")


def shows(sheet: Any, number: Any) -> None:
    sheet.page.locator(f".weight-now:text-is('{float(number):.4f}')").wait_for()


def test_it_opens_on_what_was_asked_for_and_shows_the_others(
    written: tuple[Path, Any], opened: Open
) -> None:
    file, maps = written
    sheet = opened(file, "#view=map&words=0&layer=1&head=0&from=2&to=4")
    line = sheet.page.locator(".banner.derived")
    line.filter(has_text="Derived, not weights: value zeroing").wait_for()
    shows(sheet, maps["value-zeroing"][1, 0].dense()[2, 4])
    choose(sheet, "norm")
    line.filter(has_text="size of what is brought").wait_for()
    sheet.choose(head=1)
    shows(sheet, maps["norm"][1, 1].dense()[2, 4])
    # Of a rollout each layer has one map; back at the weights all heads are there again.
    choose(sheet, "rollout")
    shows(sheet, maps["rollout"][1, 0].dense()[2, 4])
    assert sheet.state["measure"] == "rollout"
    assert {"measure", "layer"} <= set(sheet_json(sheet))
    sheet.choose(view="steps")
    sheet.page.locator("[data-step=derived]").wait_for()
    assert sheet.page.locator(".what-if:visible, [data-step=query]").count() == 0
    line.get_by_role("button", name="Back to the weights").click()
    sheet.page.locator("[data-step=query]").wait_for()
    assert line.is_hidden()
    sheet.clean()


def sheet_json(sheet: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(sheet.saved("JSON"))
    return found


def test_what_was_not_computed_is_greyed_with_the_reason(
    written: tuple[Path, Any], opened: Open
) -> None:
    sheet = opened(written[0], "#view=head&measure=flow")
    assert sheet.state["measure"] == "", "a measure that is not there shows the weights"
    sheet.page.locator(".measures summary").click()
    for name in ("flow", "gradient"):
        option = sheet.page.locator(f".measure:has(input[value={name}])")
        option.filter(has_text=f"regard look … --html --measure {name}").wait_for()
        assert option.locator("input").is_disabled()
    # A what-if is of weights: it takes the place of a measure.
    sheet.page.locator(".measures input[value=norm]").click()
    sheet.wait("location.hash.includes('measure=norm')")
    sheet.choose(masked=1)
    sheet.wait("location.hash.includes('measure=&') || location.hash.endsWith('measure=')")
    sheet.page.locator(".banner.change").wait_for()
    sheet.clean()


def test_in_chinese_nothing_of_it_is_english(written: tuple[Path, Any], opened: Open) -> None:
    sheet = opened(written[0], "#measure=norm", locale="zh-CN", reduced_motion="reduce")
    sheet.page.locator(".measures summary").click()
    english = (Path(__file__).parent / "english.js").read_text()
    for view in ("sentence", "steps", "map"):
        sheet.choose(view=view)
        sheet.page.locator(".banner.derived").wait_for()
        assert sheet.page.evaluate(english) == [], view
