"""The first view, in a real Chromium: where it opens, what it draws and what it says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Sheet, Subject
from regard.trace import Array
from regard.views.page import save_html
from tests.browser import Open
from tests.browser import Sheet as Page

TOKENS = ["[CLS]", "The", "animal", "did", "not", "cross", "xyzzy", "because", "it", ".", "[SEP]"]
IT, ANIMAL, CROSS = 8, 2, 5


def subject(weights: Array, tokens: list[str] = TOKENS, **options: Any) -> Subject:
    """One head with these weights; brackets mark special tokens, xyzzy is unknown."""
    pieces = replace(
        Pieces.plain(tokens),
        special=[token.startswith("[") for token in tokens],
        separators=[token in (".", "[SEP]") for token in tokens],
        unknown=[token == "xyzzy" for token in tokens],
    )
    sheet = Sheet("layer", 0, 0, 0, weights=weights[None], **options)
    return Subject(" ".join(tokens[1:-1]), [pieces], [sheet], "by hand")


def telling() -> Array:
    """A sink, a neighbour, an unknown and a function word that are stronger than it → animal."""
    n = len(TOKENS)
    weights = np.full((n, n), 0.01)
    weights[:, 0] = 0.60  # everyone looks at the first token
    weights[np.arange(1, n), np.arange(n - 1)] = 0.30  # and at the token before
    weights[IT] = 0.02
    weights[IT, ANIMAL] = 0.55
    weights[IT, CROSS] = 0.11
    weights[IT, IT] = 0.08
    weights[CROSS, 6] = 0.99  # unknown
    weights[3, 7] = 0.98  # a word without a meaning of its own
    rows: Array = (weights / weights.sum(1, keepdims=True)).astype(np.float32)
    return rows


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sentence") / "page.html"
    save_html(path, subject(telling()))
    return path


def arcs(sheet: Page) -> dict[str, float]:
    """Widths by the word that an arc ends at."""
    found: dict[str, float] = sheet.page.evaluate("""() => {
        const at = (x, y) => document.elementsFromPoint(x, y).find(e => e.matches('.word'));
        return Object.fromEntries([...document.querySelectorAll('.arc')].map(path => {
          const end = path.getPointAtLength(path.getTotalLength());
          const box = path.ownerSVGElement.getBoundingClientRect();
          const word = at(box.left + end.x, box.top + end.y + 26);
          return [word?.textContent, Number(path.getAttribute('stroke-width'))];
        }));
    }""")
    return found


def test_it_opens_at_what_has_most_to_tell(file: Path, opened: Open) -> None:
    sheet = opened(file, reduced_motion="reduce")
    assert (sheet.state["view"], sheet.state["from"], sheet.state["to"]) == ("sentence", "8", "2")
    share = telling()[IT, ANIMAL]
    said = f"it takes {100 * share:.0f}\u00a0% of what it hands on from animal."
    assert sheet.page.inner_text(".told") == said
    assert sheet.page.locator(".word.chosen").inner_text() == "it"
    assert sheet.page.get_attribute(".word.best", "data-share") == f"{100 * share:.0f}\u00a0%"
    sheet.clean()


def test_arcs_are_as_thick_as_the_weights(file: Path, opened: Open) -> None:
    sheet = opened(file, reduced_motion="reduce")
    found = arcs(sheet)
    row = telling()[IT]
    thickest = (found["animal"] - 0.8) / row[ANIMAL]
    assert thickest > 10
    for place, token in enumerate(TOKENS):
        if place != IT and row[place] >= 0.015:
            assert found[token] == pytest.approx(0.8 + thickest * row[place], abs=0.02), token
    assert "it" not in found


def test_pointing_and_keys_redraw_at_once(file: Path, opened: Open) -> None:
    sheet = opened(file, reduced_motion="reduce")
    page = sheet.page
    page.hover("#from5")
    assert page.locator(".word.chosen").inner_text() == "cross"
    assert "which is no word" not in page.inner_text(".told")
    page.mouse.move(2, 2)
    assert page.locator(".word.chosen").inner_text() == "it"
    page.focus(".words.from")
    assert sheet.press("ArrowLeft").state["from"] == "7"
    sunk = f"takes {100 * telling()[7, 0]:.0f}\u00a0% from [CLS], which is no word"
    assert sunk in page.inner_text(".told")
    assert sheet.press("Home", "End", "ArrowLeft").state["from"] == "9"
    page.click("#from8")
    assert (sheet.state["from"], sheet.state["to"]) == ("8", "2")
    sheet.clean()


def test_motion_is_short_and_ends_where_it_should(file: Path, opened: Open) -> None:
    still = opened(file, reduced_motion="reduce")
    sheet = opened(file)
    for one in (still, sheet):
        one.page.click("#from5")
    sheet.until(lambda: arcs(sheet) == arcs(still))


def test_other_views_keep_the_word_and_hiding_one_changes_the_arcs(
    file: Path, opened: Open
) -> None:
    sheet = opened(file, reduced_motion="reduce")
    sheet.page.get_by_role("button", name="What if animal were hidden?").click()
    sheet.page.wait_for_selector(".word.masked")
    row = telling()[IT]
    left = row[CROSS] / (1 - row[ANIMAL])
    assert f"{100 * left:.0f}\u00a0% of what it hands on from cross" in sheet.page.inner_text(
        ".told"
    )
    assert "animal" not in arcs(sheet)
    sheet.page.get_by_role("button", name="How is it computed?").click()
    assert (sheet.state["view"], sheet.state["from"], sheet.state["masked"]) == ("steps", "8", "2")
    sheet.clean()


def test_on_a_narrow_screen_no_arc_runs_through_a_word(tmp_path: Path, opened: Open) -> None:
    said = "The animal did not cross the wide street because it was much too tired today"
    words = said.split()
    even = np.full((len(words), len(words)), 1 / len(words), np.float32)
    save_html(tmp_path / "page.html", subject(even, words))
    sheet = opened(tmp_path / "page.html", width=390, height=844, reduced_motion="reduce")
    for number in (0, 5, 9, 14):
        sheet.page.click(f"#from{number}")
        hit = sheet.page.evaluate("""() => {
            const words = [...document.querySelectorAll('.word')];
            const boxes = words.map(w => w.getBoundingClientRect());
            const hit = new Set();
            for (const path of document.querySelectorAll('.arc')) {
              const origin = path.ownerSVGElement.getBoundingClientRect();
              for (let i = 0, n = path.getTotalLength(); i <= n; i += 2) {
                const { x, y } = path.getPointAtLength(i);
                boxes.forEach((box, w) => {
                  const [px, py] = [x + origin.left, y + origin.top];
                  if (px > box.left && px < box.right && py > box.top && py < box.bottom)
                    hit.add(words[w].textContent);
                });
              }
            }
            return [...hit];
        }""")
        assert hit == [], number
    assert sheet.page.locator(".arc").count() == len(words) - 1
    wide = sheet.page.evaluate("document.scrollingElement.scrollWidth")
    assert wide <= 390


def test_a_decoders_row_belongs_to_the_word_it_has_read(tmp_path: Path, opened: Open) -> None:
    """exp(2 ln 9) : 1 : 1, so the first word gets 81 of 83 parts."""
    texts = [
        Pieces.plain(["a", "dog"], name="target"),
        Pieces.plain(["x", "y", "z"], name="source"),
    ]
    query, key = np.log([[[1.0], [9.0]]]), np.array([[[2.0], [0.0], [0.0]]])
    sheet = Sheet("cross", 0, 0, 1, "cross", "decoder", query=query, key=key)
    save_html(tmp_path / "page.html", Subject("x y z", texts, [sheet]))
    page = opened(tmp_path / "page.html").page
    page.click("#from1")
    told = "Having read dog, the decoder takes 98\u00a0% of what it looks up from x."
    page.locator(".told", has_text="Having read dog").wait_for()
    assert page.inner_text(".told") == told


@pytest.mark.parametrize(("width", "shape"), [(1280, "facing"), (280, "columns")])
def test_two_sentences_face_each_other(
    width: int, shape: str, tmp_path: Path, opened: Open
) -> None:
    german, english = ["Können", "Sie", "mir", "helfen", "?"], ["Can", "you", "help", "me", "?"]
    order = [0, 1, 3, 2, 4]
    weights = np.full((5, 5), 0.05, np.float32)
    weights[np.arange(5), order] = 0.8
    texts = [Pieces.plain(english, name="target"), Pieces.plain(german, name="source")]
    sheet = Sheet("words", 0, 0, 1, "cross", weights=weights[None])
    save_html(tmp_path / "page.html", Subject("Können …", texts, [sheet]))
    page = opened(tmp_path / "page.html", width=width, reduced_motion="reduce").page
    assert page.locator(f".stage.{shape}").count() == 1
    assert page.locator(".arc.pale").count() == 5  # the alignment of all words behind
    page.click("#from2")
    said = "To write help, the model takes 80\u00a0% of what it reads from helfen."
    assert page.inner_text(".told") == said
    page.click("#to2")
    assert "takes 5.0\u00a0% of what it reads from mir" in page.inner_text(".told")
