"""Pieces drawn on the thing itself: the picture that a page carries, and the view in Chromium."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from regard.pieces.backdrop import Backdrop
from regard.pieces.image import patches
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Sheet, Subject
from regard.trace import Array
from regard.views.page import save_html
from regard.views.page.backdrop import backdrop_data, box_of, png
from tests.browser import Open
from tests.views.page.test_axe import AXE, FINDINGS

WIDE = 5
"""Columns of patches; there are two rows, and [CLS]."""


def pixels(rows: int = 14, columns: int = 35) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 256, (rows, columns, 3), dtype=np.uint8)


def weights(rows: int, columns: int) -> Array:
    """The sharpest of each row is at 3 · row + 2, modulo the columns: .6 of its weight."""
    made = np.full((rows, columns), 0.4 / (columns - 1))
    for row in range(rows):
        made[row, (3 * row + 2) % columns] = 0.6
    found: Array = made[None].astype(np.float32)
    return found


def image_subject() -> Subject:
    """An image of 2 × 5 patches behind [CLS]: a layer among them, and a decision from them."""
    read = patches(pixels(), (0, 0, 35, 14), (2, WIDE), ["[CLS]"]).pieces
    texts = [read, Pieces.plain(["decision"])]
    layer = Sheet("layer 0", 0, 0, 0, weights=weights(11, 11))
    last = Sheet("readout", 0, 1, 0, "cross", weights=weights(1, 11))
    return Subject("boot.png", texts, [layer, last], "by hand", start={"layer": 0, "query": 7})


def test_the_picture_is_the_image() -> None:
    image = pixels(5, 7)
    assert (np.asarray(Image.open(io.BytesIO(png(image)))) == image).all()


def test_a_large_image_becomes_means_of_squares() -> None:
    large = np.repeat(np.repeat(pixels(7, 500), 2, 0), 2, 1)
    made = patches(large, (0, 0, 1000, 14), (1, 2)).pieces
    data = backdrop_data(made)
    assert data is not None
    assert (data["width"], data["height"]) == (1000, 14)
    assert data["boxes"] == [[0, 0, 500, 14], [500, 0, 1000, 14]]
    picture = base64.b64decode(data["picture"].partition(",")[2])
    assert (np.asarray(Image.open(io.BytesIO(picture))) == pixels(7, 500)).all()


def test_spans_are_as_high_as_the_whole() -> None:
    assert box_of((3, 8), 1) == [3, 0, 8, 1]
    assert box_of((1, 2, 3, 4), 9) == [1, 2, 3, 4]
    assert box_of((), 1) == []


def test_lines_go_from_their_lowest_to_their_highest_value() -> None:
    values = np.array([[2, 4, np.nan, 3], [7, 7, 7, 7]], np.float32)
    read = replace(Pieces.plain(["a", "b"]), backdrop=Backdrop("curve", values))
    data = backdrop_data(read)
    assert data is not None
    assert data["lines"] == [[0, 1, -1, 0.5], [0, 0, 0, 0]]


def test_a_curve_knows_where_its_forecast_begins() -> None:
    values = np.arange(8, dtype=np.float32)[np.newaxis]
    read = replace(Pieces.plain(["a"]), backdrop=Backdrop("curve", values, since=6))
    data = backdrop_data(read)
    assert data is not None
    assert data["since"] == 0.75


def test_a_list_begins_at_the_first_row_that_was_read() -> None:
    rows = np.array([[str(i), f"item {i}"] for i in range(5)])
    read = replace(
        Pieces.plain(["<s>", "item 2", "item 4"]),
        places=[(), (2,), (4,)],
        backdrop=Backdrop("list", rows),
    )
    assert backdrop_data(read) == {
        **{"kind": "list", "width": 1, "height": 3, "boxes": [[], [0, 0, 1, 1], [0, 2, 1, 3]]},
        "rows": [["2", "item 2"], ["3", "item 3"], ["4", "item 4"]],
    }


def test_a_spectrogram_has_its_lowest_frequency_below() -> None:
    values = np.array([[1, 0], [0, 0], [0, 0]], np.float32)
    read = replace(Pieces.plain(["a"]), backdrop=Backdrop("spectrogram", values))
    data = backdrop_data(read)
    assert data is not None
    picture = base64.b64decode(data["picture"].partition(",")[2])
    drawn = np.asarray(Image.open(io.BytesIO(picture)))
    assert drawn[2, 0].tolist() == [255, 236, 180]
    assert drawn[0, 0].tolist() == [13, 8, 60]


def test_text_has_no_backdrop() -> None:
    assert backdrop_data(Pieces.plain(["a"])) is None


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("thing") / "page.html"
    save_html(path, image_subject())
    return path


def test_an_image_in_the_page(file: Path, opened: Open) -> None:
    sheet = opened(file, reduced_motion="reduce")
    page = sheet.page
    assert page.inner_text("#tab-sentence") == "Image"
    assert page.locator(".view-sentence").is_hidden()
    assert page.inner_text(".view-thing .told") == (
        "patch 1,1 takes 60\u00a0% of what it hands on from patch 0,0."
    )
    assert page.locator(".box.chosen").get_attribute("aria-label") == "patch 1,1"
    best = page.locator(".box.best")
    assert best.get_attribute("data-share") == "60\u00a0%"
    field, box = (page.locator(s).bounding_box() for s in (".pieces.from .field", ".box.best"))
    assert box["width"] == pytest.approx(field["width"] / WIDE, abs=0.5)
    assert box["height"] == pytest.approx(field["height"] / 2, abs=0.5)
    assert (box["x"], box["y"]) == pytest.approx((field["x"], field["y"]), abs=0.5)
    size = page.evaluate("(({naturalWidth: w, naturalHeight: h}) => [w, h])"
                         "(document.querySelector('.behind img'))")  # fmt: skip
    assert size == [35, 14]
    page.locator("[aria-label='patch 0,3']").hover()
    assert page.inner_text(".told:visible").startswith("patch 0,3 takes 60")
    assert sheet.state["from"] == "7", "what is pointed at is not chosen"
    if AXE.exists():
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate(FINDINGS) == []
    sheet.clean()


def test_keys_walk_over_the_patches(file: Path, opened: Open) -> None:
    sheet = opened(file, reduced_motion="reduce")
    pieces = sheet.page.locator(".pieces.from")
    keys = ("ArrowUp", "ArrowRight", "ArrowDown", "End", "ArrowRight", "Home", "ArrowDown")
    for key, place in zip(keys, (2, 3, 8, 10, 10, 0, 1), strict=True):
        pieces.press(key)
        sheet.wait(f"new URLSearchParams(location.hash.slice(1)).get('from') === '{place}'")
    assert pieces.get_attribute("aria-activedescendant") == "piece-from1"


def test_the_decision_in_chinese(file: Path, opened: Open) -> None:
    sheet = opened(file, "#layer=1&from=0&lang=zh", reduced_motion="reduce", width=390)
    assert sheet.page.inner_text("#tab-sentence") == "图像"
    assert sheet.page.inner_text(".told:visible") == "为了作出判断，模型从 小块 0,1 取了 60%。"
    sheet.page.locator("#piece-to6").click()
    assert sheet.state["to"] == "6"
    english = (Path(__file__).parent / "english.js").read_text()
    assert sheet.page.evaluate(english) == []
    assert sheet.page.evaluate("document.documentElement.scrollWidth") <= 390
    sheet.clean()


@pytest.mark.parametrize("kind", ["curve", "spectrogram"])
def test_time_in_the_page(kind: str, tmp_path: Path, opened: Open) -> None:
    steps = np.sin(np.arange(2 * 30) / 3).reshape(2, 30).astype(np.float32)
    behind = Backdrop("curve" if kind == "curve" else "spectrogram", steps)
    spans = [(5 * i, 5 * i + 5) for i in range(6)]
    labels = [f"{start}–{stop - 1}" for start, stop in spans]
    read = replace(Pieces.plain(labels), places=list(spans), backdrop=behind)
    sheet = Sheet("layer 0", 0, 0, 0, weights=weights(6, 6))
    save_html(tmp_path / "a.html", Subject("a.csv", [read], [sheet], start={"query": 3}))
    opened_page = opened(tmp_path / "a.html", reduced_motion="reduce")
    page = opened_page.page
    assert page.inner_text("#tab-sentence") == ("Curve" if kind == "curve" else "Sound")
    said = "15–19 takes 60\u00a0% of what it hands on from 25–29."
    assert page.inner_text(".told:visible") == said
    assert page.locator(".behind path" if kind == "curve" else ".behind img").count() > 0
    field, box = (page.locator(s).bounding_box() for s in (".field:visible", ".box.best"))
    assert box["x"] == pytest.approx(field["x"] + field["width"] * 5 / 6, abs=0.5)
    assert box["height"] == pytest.approx(field["height"], abs=0.5)
    opened_page.clean()


def test_a_forecast_is_dashed(tmp_path: Path, opened: Open) -> None:
    behind = Backdrop("curve", np.sin(np.arange(30, dtype=np.float32))[np.newaxis], since=20)
    spans = [(10 * i, 10 * i + 10) for i in range(3)]
    read = replace(Pieces.plain(["a", "b", "c"]), places=list(spans), backdrop=behind)
    save_html(
        tmp_path / "a.html", Subject("a", [read], [Sheet("x", 0, 0, 0, weights=weights(3, 3))])
    )
    sheet = opened(tmp_path / "a.html")
    paths = sheet.page.locator(".behind path")
    assert [paths.nth(i).get_attribute("class") for i in range(paths.count())] == [
        *("curve", "curve forecast")
    ]
    drawn = [paths.nth(i).get_attribute("d") for i in range(2)]
    assert [path.count("L") for path in drawn] == [19, 10]
    assert drawn[1].startswith("M19.5 ")
    assert "5px" in paths.nth(1).evaluate("path => getComputedStyle(path).strokeDasharray")


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history of 60 rows behind <s>."""
    names = [f"Film {i}" for i in range(60)]
    rows = np.array(
        [[str(i + 1), f"2024-01-{i // 2 + 1:02d}", name] for i, name in enumerate(names)]
    )
    read = Pieces.of_thing(["<s>"], names, [(i,) for i in range(60)], Backdrop("list", rows))
    sheet = Sheet("layer 0", 0, 0, 0, weights=weights(61, 61))
    path = tmp_path_factory.mktemp("list") / "page.html"
    save_html(path, Subject("user 7", [read], [sheet], start={"query": 60}))
    return path


def test_a_history_in_the_page(listed: Path, opened: Open) -> None:
    sheet = opened(listed, reduced_motion="reduce")
    page = sheet.page
    assert page.inner_text("#tab-sentence") == "History"
    assert page.inner_text(".told:visible").startswith("Film 59 keeps 60\u00a0% to itself; ")
    field, chosen = (page.locator(s).bounding_box() for s in (".pieces.from", ".box.chosen"))
    assert field["y"] <= chosen["y"] <= field["y"] + field["height"] - chosen["height"] + 1, (
        "a long list is scrolled to the row that was chosen"
    )
    pieces = page.locator(".pieces.from")
    for key, place in (("ArrowUp", 59), ("Home", 0), ("ArrowDown", 1), ("ArrowDown", 2)):
        pieces.press(key)
        sheet.wait(f"new URLSearchParams(location.hash.slice(1)).get('from') === '{place}'")
    page.locator("[aria-label='Film 3']").hover()
    assert page.inner_text(".told:visible").startswith("Film 3 takes 60")
    if AXE.exists():
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate(FINDINGS) == []
    sheet.clean()


def test_a_history_is_saved_as_a_picture_with_its_rows(listed: Path, opened: Open) -> None:
    """Film 3, the fourth piece behind <s>, takes .6 from the 14th: the row of Film 13."""
    sheet = opened(listed, "#from=4", reduced_motion="reduce")
    sheet.until(lambda: sheet.page.inner_text(".told:visible").startswith("Film 3 takes 60"))
    drawn = ElementTree.fromstring(sheet.saved("SVG"))
    names = [t for t in drawn.iterfind(".//{*}g/{*}text") if (t.text or "").startswith("Film ")]
    assert [t.text for t in names] == [f"Film {i}" for i in range(60)]
    rects = [r for r in drawn.iterfind("{*}rect") if r.get("fill-opacity") is not None]
    assert len(rects) == 60

    def rows(rect: ElementTree.Element) -> list[str | None]:
        """What is written in it."""
        top, high = (float(rect.get(name, "nan")) for name in ("y", "height"))
        return [t.text for t in names if top < float(t.get("y", "nan")) < top + high]

    heaviest = max(rects, key=lambda rect: float(rect.get("fill-opacity", 0)))
    assert rows(heaviest) == ["Film 13"]
    assert float(heaviest.get("fill-opacity", 0)) > 0.5
    assert [rows(rect) for rect in rects if rect.get("stroke")] == [["Film 3"]]
    assert [rows(rect) for rect in rects] == [[f"Film {i}"] for i in range(60)]
    told = "Film 3 takes 60\u00a0% of what it hands on from Film 13."
    assert drawn.findtext("{*}text") == drawn.findtext("{*}title") == told
    sheet.clean()


def test_a_history_in_chinese_on_a_small_screen(listed: Path, opened: Open) -> None:
    sheet = opened(listed, "#lang=zh", reduced_motion="reduce", width=390)
    page = sheet.page
    assert page.inner_text("#tab-sentence") == "历史"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    english = (Path(__file__).parent / "english.js").read_text()
    assert page.evaluate(english) == []
    sheet.clean()


def test_even_weights_are_not_nothing(tmp_path: Path, opened: Open) -> None:
    """Of 144 patches each has 0.7 % of the weight: small, but all of it is there."""
    read = patches(pixels(48, 48), (0, 0, 48, 48), (12, 12)).pieces
    even = np.full((1, 144, 144), 1 / 144, np.float32)
    even[0, 5, 9] += 1e-4
    subject = Subject("a", [read], [Sheet("x", 0, 0, 0, weights=even)], start={"query": 5})
    save_html(tmp_path / "a.html", subject)
    sheet = opened(tmp_path / "a.html", reduced_motion="reduce")
    assert sheet.page.inner_text(".told:visible") == (
        "patch 0,5 takes a little from everywhere; most, 0.7\u00a0%, from patch 0,9."
    )
