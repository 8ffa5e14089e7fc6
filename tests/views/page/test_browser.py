"""The page in a real Chromium, opened from disk with all network refused."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.attention import AttentionMap, causal
from regard.inside.heads.kinds import scored
from regard.inside.heads.patterns import Patterns
from regard.pieces.pieces import Pieces
from regard.recurrent import LSTMN
from regard.views.page import save_html, subject_of_map, subject_of_trace
from tests.browser import Open, Sheet
from tests.views.page.cases import HOSTILE, TOKENS, observed, row, saved

HERE = Path(__file__).parent
VIEWS = ("sentence", "steps", "head", "map", "overview", "reading", "compare")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    observation = observed(TOKENS)
    return observation, saved(observation, tmp_path_factory.mktemp("small"), model="random")


def weights(sheet: Sheet) -> np.ndarray[Any, Any]:
    return np.array([entry["weight"] for entry in sheet.rows()])


def test_numbers_are_those_of_python(small: tuple[Any, Path], opened: Open) -> None:
    observation, file = small
    sheet = opened(file, "#view=steps")
    for layer, head, i in ((0, 0, 0), (1, 2, 5), (0, 1, 6)):
        sheet.choose(layer=layer, head=head, **{"from": i})
        ours = row(observation, layer, head, i)
        rows = sheet.rows()
        np.testing.assert_allclose([r["weight"] for r in rows], ours, atol=1e-6)
        found = observation.layer(layer)
        q, k = found.query[0, head].double(), found.key[0, head].double()
        np.testing.assert_allclose([r["q·k"] for r in rows], (k @ q[i]).numpy(), atol=2e-5)
        assert [r["to"] for r in rows] == TOKENS
    sheet.clean()


def test_half_precision_and_kinds_of_heads(tmp_path: Path, opened: Open) -> None:
    words = [f"w{i % 37}" for i in range(520)]
    tokens = ["[CLS]", *words, "."]
    observation = observed(tokens, width=300, heads=6, is_causal=True, key_heads=3)
    file = saved(observation, tmp_path)
    sheet = opened(file, "#view=steps&layer=1&head=5&from=250")
    assert "half precision" in sheet.page.inner_text("#proof")
    ours = row(observation, 1, 5, 250)
    theirs = weights(sheet)
    # Half precision has 11 bits: a score of size s is off by about s / 2048.
    np.testing.assert_allclose(theirs, ours, atol=6e-3 * ours.max(), rtol=6e-3)
    assert (theirs[251:] == 0).all()
    sheet.choose(view="overview")
    sheet.wait("!document.querySelector('.view-overview .quiet').textContent.includes(' of ')")
    kinds = [entry["kind"] for entry in sheet.rows()]
    ids = [tokens.index(token) for token in tokens]
    known = replace(
        Pieces.plain(tokens, ids),
        special=[i == 0 for i in ids],
        separators=[t == "." for t in tokens],
    )
    expected = [
        seen.kind
        for layer in observation.layers
        for seen in scored(Patterns(known).tally(layer.item()))
    ]
    assert kinds == expected


def test_the_proof_is_computed_in_the_page(
    small: tuple[Any, Path], tmp_path: Path, opened: Open
) -> None:
    _, file = small
    sheet = opened(file, "#view=steps&head=1")
    line = sheet.page.inner_text("#proof")
    assert re.search(r"computed in this page over 7 of 7 rows, from float32 vectors", line)
    assert float(sheet.page.get_attribute("#proof", "data-context")) < 2e-6
    lying = tmp_path / "lying.html"
    text = file.read_text()
    assert text.count('"scale":0.31622776601683794') == 2
    lying.write_text(text.replace('"scale":0.31622776601683794', '"scale":0.9'))
    sheet = opened(lying, "#view=steps&head=1")
    assert float(sheet.page.get_attribute("#proof", "data-context")) > 0.01


def test_damaged_data_is_told(small: tuple[Any, Path], tmp_path: Path, opened: Open) -> None:
    _, file = small
    sheet = opened(file)
    sheet.wait("document.getElementById('whole').textContent === 'Data whole ✓'")
    text = file.read_text()
    start = text.index('id="packed">') + len('id="packed">')
    broken = tmp_path / "broken.html"
    broken.write_text(
        text[: start + 40] + ("A" if text[start + 40] != "A" else "B") + text[start + 41 :]
    )
    sheet.page.goto(broken.as_uri())
    sheet.wait("document.querySelector('.banner')?.textContent.includes('could not be shown')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_clean_named_and_readable(
    scheme: str, small: tuple[Any, Path], opened: Open
) -> None:
    sheet = opened(
        small[1], "#view=overview&masked=1", color_scheme=scheme, reduced_motion="reduce"
    )
    page = sheet.page
    page.click(".as-table > summary")
    for view in VIEWS:
        sheet.choose(view=view)
        page.wait_for_selector(".as-table table")
        assert page.evaluate((HERE / "unnamed.js").read_text()) == [], view
        assert page.evaluate((HERE / "faint.js").read_text()) == [], view
        assert page.get_attribute(f"#tab-{view}", "aria-selected") == "true"
        assert page.is_visible(f"#view-{view}")
    sheet.clean()


def test_a_narrow_and_a_wide_screen(small: tuple[Any, Path], opened: Open) -> None:
    _, file = small
    for width in (360, 2560):
        sheet = opened(file, width=width, height=740)
        for view in VIEWS:
            sheet.choose(view=view)
            wide = sheet.page.evaluate("document.scrollingElement.scrollWidth")
            assert wide <= width, (view, wide)


def test_on_paper_a_view_is_a_light_and_whole_picture(tmp_path: Path, opened: Open) -> None:
    tokens = [f"t{i}" for i in range(80)]  # more than a screen shows
    file = saved(observed(tokens, layers=1), tmp_path)
    sheet = opened(file, "#view=head", color_scheme="dark")
    page = sheet.page
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".print-only svg text").all_text_contents() == [*tokens, *tokens]
    assert page.get_attribute(".print-only svg > rect", "fill") == "#ffffff"
    assert not page.is_visible("#view-head")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="dark")
    assert page.is_visible("#view-head")
    assert page.get_attribute("html", "data-theme") is None
    assert page.pdf()[:5] == b"%PDF-"
    sheet.clean()


def test_the_keyboard_does_everything(small: tuple[Any, Path], opened: Open) -> None:
    sheet = opened(small[1], "#view=head&layer=0&head=0&from=0&to=0&words=0")
    for number, view in enumerate(VIEWS, 1):
        assert sheet.press(str(number)).state["view"] == view
    sheet.press("3", "ArrowDown", "ArrowDown", "ArrowRight", "]", "}", "w", "s", "l", "c", "a", "m")
    now = sheet.state
    assert {name: now[name] for name in ("from", "to", "head", "layer", "words", "sinks")} == {
        "from": "2", "to": "1", "head": "1", "layer": "1", "words": "1", "sinks": "0",
    }  # fmt: skip
    assert (now["scale"], now["palette"], now["all"], now["masked"]) == ("log", "viridis", "0", "1")
    assert "masked" not in sheet.press("r", "w", "s").state
    sheet.press("?")
    assert sheet.page.locator("dialog.help").is_visible()
    sheet.press("Escape", "e")
    assert sheet.page.locator("dialog.files").is_visible()
    sheet.press("Escape", "t")
    assert sheet.page.locator(".as-table table").is_visible()
    sheet.press("/")
    sheet.page.keyboard.type("[sep]")
    assert sheet.press("Enter").state["from"] == "6"


def test_tab_reaches_the_picture_and_shows_where_it_is(
    small: tuple[Any, Path], opened: Open
) -> None:
    sheet = opened(small[1], "#view=map&layer=0&head=0&from=0&to=0&words=0")
    for _ in range(40):
        sheet.page.keyboard.press("Tab")
        if sheet.page.evaluate("document.activeElement.classList.contains('pane')"):
            break
    outline = sheet.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    before = sheet.state
    sheet.press("ArrowDown", "ArrowRight", "+", "Shift+ArrowRight", "0")
    after = sheet.state
    assert (int(after["from"]), int(after["to"])) == (
        int(before["from"]) + 1,
        int(before["to"]) + 1,
    )
    sheet.choose(view="overview")
    sheet.page.focus("[role=gridcell][tabindex='0']")
    assert sheet.press("ArrowRight", "ArrowDown").state["head"] == "1"
    assert sheet.state["layer"] == "1"
    sheet.clean()


def test_a_link_restores_the_view(small: tuple[Any, Path], opened: Open) -> None:
    sheet = opened(small[1], "#view=steps&layer=1&head=2&from=4&to=3&words=0&masked=5&factor=2.5")
    again = opened(small[1], f"#{sheet.page.evaluate('location.hash.slice(1)')}")
    assert again.state == sheet.state
    assert again.state["masked"] == "5"
    assert again.page.inner_text(".link-now") == sheet.page.inner_text(".link-now")
    assert again.page.input_value("input[type=range]") == "2.5"
    sheet.choose(view="map", sight="2,3,40")
    again = opened(small[1], f"#{sheet.page.evaluate('location.hash.slice(1)')}")
    again.until(lambda: again.state.get("sight") == "2,3,40")
    again.page.focus(".pane")
    again.press("Shift+ArrowRight").until(lambda: again.state["sight"] != "2,3,40")
    again.press("0").until(lambda: again.state["sight"] == "")
    strange = opened(
        small[1], "#view=nothing&sight=x,,9&layer=99&head=-4&from=x&share=NaN&with=9.9.9&palette=no"
    )
    assert strange.state["layer"] == "1"
    strange.choose(view="compare").clean()


def test_what_if(small: tuple[Any, Path], opened: Open) -> None:
    observation, file = small
    sheet = opened(file, "#view=steps&layer=1&head=1&from=5&masked=2.4&factor=2")
    found = observation.layer(1)
    q, k = found.query[0, 1].double().numpy(), found.key[0, 1].double().numpy()
    scores = q[5] @ k.T * found.rule.scale * 2
    scores[[2, 4]] = -np.inf
    expected = np.exp(scores - scores.max())
    np.testing.assert_allclose(weights(sheet), expected / expected.sum(), atol=1e-6)
    assert sheet.page.locator(".what-if.changed-box").is_visible()
    assert sheet.page.locator(".changed").count() > 0
    sheet.page.get_by_role("button", name="Back to the model's own").click()
    np.testing.assert_allclose(weights(sheet), row(observation, 1, 1, 5), atol=1e-6)
    assert not sheet.page.locator(".what-if.changed-box").is_visible()
    assert sheet.page.locator(".changed").count() == 0


def test_the_focus_stays_while_numbers_change(small: tuple[Any, Path], opened: Open) -> None:
    sheet = opened(small[1], "#view=steps&from=5")
    page = sheet.page
    page.focus("[data-focus='mask 2']")
    sheet.press("Space")
    assert page.evaluate("document.activeElement.dataset.focus") == "mask 2"
    assert sheet.press("Space").state.get("masked") is None
    page.focus("input[aria-label='Factor on the scale']")
    sheet.press("ArrowRight", "ArrowRight", "ArrowRight")
    assert sheet.state["factor"] == "1.3"
    sheet.choose(view="reading")
    page.focus(".chip[data-i='2']")
    sheet.press("Enter")
    assert page.evaluate("document.activeElement.dataset.i") == "2"
    assert sheet.state["from"] == "2"


def test_messages_are_seen_and_keys_rest_in_a_dialog(small: tuple[Any, Path], opened: Open) -> None:
    sheet = opened(small[1], "#view=overview&from=3&to=1")
    sheet.press("g")
    sheet.wait("document.querySelector('#said.seen')?.textContent.includes('strongest link')")
    sheet.press("e", "3")
    assert sheet.state["view"] == "overview"
    sheet.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for kind in ("SVG", "CSV", "JSON", "PNG"):
        sheet.page.get_by_role("button", name=f"Copy {kind}").click()
        said = "Picture" if kind == "PNG" else kind
        sheet.wait(f"document.querySelector('dialog .said').textContent === '{said} copied'")
    sheet.clean()


def test_words_and_sinks(small: tuple[Any, Path], opened: Open) -> None:
    observation, file = small
    sheet = opened(file, "#view=head&layer=0&head=2&from=2&words=1&sinks=0")
    rows = [row(observation, 0, 2, i) for i in (2, 3, 4)]
    mean = np.mean(rows, 0)
    words = np.array([mean[1], mean[2:5].sum(), mean[5]])
    words /= words.sum()
    found = {entry["to"]: entry["weight"] for entry in sheet.rows()}
    assert list(found) == [["the", "animal", "it"][i] for i in np.argsort(-words)]
    np.testing.assert_allclose(sorted(found.values()), np.sort(words), atol=1e-4)
    said = sheet.page.inner_text(".view-head .quiet")
    share = 100 * (mean[0] + mean[6])
    assert "Sinks hidden, rows renormalised" in said
    (had,) = re.findall(r"had ([\d.]+) %", said)
    assert abs(float(had) - share) < 0.06


def test_the_strongest_head_of_a_link(small: tuple[Any, Path], opened: Open) -> None:
    observation, file = small
    sheet = opened(file, "#view=overview&from=3&to=1")
    sheet.press("g")
    every = {
        (layer, head): row(observation, layer, head, 3)[1] for layer in (0, 1) for head in (0, 1, 2)
    }
    best = max(every, key=lambda place: every[place])
    sheet.until(lambda: (int(sheet.state["layer"]), int(sheet.state["head"])) == best)


def pixels(data: bytes) -> np.ndarray[Any, Any]:
    from matplotlib.image import imread

    return imread(io.BytesIO(data))


def test_the_map_in_both_ways_of_drawing(tmp_path: Path, opened: Open) -> None:
    n = 700
    weights_of = torch.full((n, n), 1e-4)
    weights_of[431, 77] = 0.9  # one peak that must survive in a picture of fewer pixels
    file = tmp_path / "peak.html"
    save_html(file, subject_of_map(AttentionMap.from_weights(weights_of)))
    pictures = []
    for fragment, name in (("gl=1", "WebGL2"), ("gl=0", "2-D canvas")):
        sheet = opened(file, f"#view=map&from=9&to=9&{fragment}", width=640, height=640)
        assert sheet.page.get_attribute(".pane", "data-by") == name
        sheet.page.wait_for_timeout(400)
        pictures.append(pixels(sheet.saved("PNG")))
        sheet.clean()
    one, two = pictures
    assert one.shape == two.shape
    assert np.abs(one - two).max(-1).mean() < 0.01
    for picture in pictures:
        dark = picture[..., :3].sum(-1)
        assert (dark < 0.6).sum() >= 1, "the peak is not to be seen"
    sheet.page.hover(".pane", position={"x": 300, "y": 300})
    assert "weight 1.000e−4" in sheet.page.inner_text(".tip")


def test_the_overview_of_a_map_too_large_to_be_kept(tmp_path: Path, opened: Open) -> None:
    torch.manual_seed(1)
    head = AttentionMap.from_vectors(torch.randn(2100, 2), torch.randn(2100, 2), mask=causal())
    head.save_html(tmp_path / "long.html")
    sheet = opened(tmp_path / "long.html", "#view=overview&from=2000&to=7")
    sheet.wait("document.querySelector('.card-entropy').textContent !== ''")
    (found,) = sheet.rows()
    assert abs(found["entropy (nats)"] - float(head.entropy().mean())) < 2e-3
    assert abs(found["weight of the link"] - float(head[2000][7])) < 1e-6
    sheet.clean()


def test_zoom_to_a_single_weight(tmp_path: Path, opened: Open) -> None:
    observation = observed([f"t{i}" for i in range(150)], layers=1)
    sheet = opened(saved(observation, tmp_path), "#view=map&from=99&to=42")
    sheet.page.focus(".pane")
    for _ in range(14):
        sheet.press("+")
    sheet.press("ArrowDown")
    ours = row(observation, 0, 0, 100)
    assert sheet.page.inner_text(".weight-now") == f"{ours[42]:.4f}"
    grid = {r[""]: r for r in sheet.rows()}
    assert len(grid) == 150
    assert abs(grid["t100"]["t42"] - ours[42]) < 1e-6


def test_reading_a_recurrent_network(tmp_path: Path, opened: Open) -> None:
    torch.manual_seed(3)
    words = ["the", "FBI", "is", "chasing", "a", "criminal"]
    with torch.no_grad(), regard.record("lstmn", words) as trace:
        LSTMN(5, 7, batch_first=True)(torch.randn(1, 6, 5))
    trace.save_html(tmp_path / "read.html")
    sheet = opened(tmp_path / "read.html", "#view=reading&from=0")
    assert "has nothing to look at yet" in sheet.page.inner_text(".view-reading .quiet")
    sheet.choose(**{"from": 4})
    looks = trace["layer 0/attention"].value[0, 4]
    chips = sheet.page.locator(".chip small").all_inner_texts()
    assert chips == [f"{w:.2f}" if w >= 0.005 else "·" for w in looks[:5]]
    assert sheet.page.locator(".chip.to-come").count() == 1
    sheet.press("2")
    assert float(sheet.page.get_attribute("#proof", "data-context")) < 1e-6
    sheet.press("6")
    sheet.page.get_by_role("button", name="Play").click()
    sheet.wait("new URLSearchParams(location.hash.slice(1)).get('from') === '5'")
    sheet.clean()


def test_an_alignment_is_a_rectangle(tmp_path: Path, opened: Open) -> None:
    a = torch.tensor([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25]])
    file = tmp_path / "align.html"
    save_html(
        file,
        subject_of_map(
            AttentionMap.from_weights(a, queries=["ja", "!"], keys=["yes", "!", "</s>"])
        ),
    )
    sheet = opened(file, "#view=reading&from=1")
    lines = sheet.page.locator(".arcs path").count()
    assert lines == 3
    picture = ET.fromstring(sheet.saved("SVG"))
    assert len([e for e in picture.iter() if e.tag.endswith("path")]) == lines
    assert (
        len([e for e in picture.iter() if e.tag.endswith("title") and "→" in (e.text or "")])
        == 2 * 3
    )
    assert sheet.page.locator(".chip[data-kind=memory] small").all_inner_texts() == [
        "0.25",
        "0.50",
        "0.25",
    ]
    assert "looks most at ! (0.500)" in sheet.page.inner_text(".view-reading .quiet")
    sheet.choose(view="head")
    assert sheet.page.locator(".tokens.from .token").count() == 2
    assert sheet.page.locator(".tokens.to .token").count() == 3
    sheet.clean()


def test_compare_two_texts(tmp_path: Path, opened: Open) -> None:
    first, second = observed(TOKENS), observed([*TOKENS[:-2], "they", "[SEP]"], seed=5)
    file = tmp_path / "two.html"
    save_html(file, *(o.subject(t) for o, t in ((first, "one"), (second, "two"))))
    sheet = opened(file, "#view=compare&layer=1&head=2&from=5")
    one, two = row(first, 1, 2, 5), row(second, 1, 2, 5)
    found = sheet.rows()
    assert found[0]["token"] in (*TOKENS, "it / they")
    by = {entry["token"]: entry for entry in found}
    np.testing.assert_allclose(by["the"]["difference"], one[1] - two[1], atol=2e-4)
    np.testing.assert_allclose(by["it / they"]["second"], two[5], atol=1e-4)
    sheet.page.select_option(".view-compare label:has-text('Text') select", "0")
    assert sheet.state["with"] == "0.1.2"
    sheet.clean()


def test_compare_texts_of_different_lengths(tmp_path: Path, opened: Open) -> None:
    longer = ["[CLS]", "the", "old", "an", "##im", "##al", "they", "[SEP]"]
    first, second = observed(TOKENS), observed(longer, seed=5)
    file = tmp_path / "two.html"
    first.save_html(file, model="A", compare={"B": second})
    sheet = opened(file, "#from=5&head=1&layer=0&words=0")
    assert sheet.state["view"] == "compare"
    by = {entry["token"]: entry for entry in sheet.rows()}
    one, two = row(first, 0, 1, 5), row(second, 0, 1, 6)  # "it" stands where "they" does
    np.testing.assert_allclose(by["##im"]["difference"], one[3] - two[4], atol=1e-6)
    np.testing.assert_allclose(by["it / they"]["second"], two[6], atol=1e-6)
    assert (by["old"]["first"], by["old"]["difference"]) == (None, None)
    assert "7 × 7 tokens that both have" in sheet.page.inner_text(".view-compare .quiet")
    sheet.page.locator(".pane").nth(2).hover(position={"x": 250, "y": 250})
    assert "difference" in sheet.page.locator(".pane .tip").nth(2).inner_text()
    picture = sheet.saved("SVG").decode()
    assert all(f">{word}</text>" in picture for word in ("old", "it / they", "First − second"))
    sheet.clean()


def test_hostile_tokens_are_text_in_every_view_and_file(tmp_path: Path, opened: Open) -> None:
    observation = observed(HOSTILE)
    file = saved(observation, tmp_path, title="</title><script>window.hit=3</script>" + HOSTILE[4])
    sheet = opened(file, "#view=overview&from=1&to=0")
    for view in VIEWS:
        sheet.choose(view=view)
        sheet.page.evaluate("document.querySelector('.as-table').open = true")
        sheet.page.wait_for_selector(".as-table table")
        csv = sheet.saved("CSV").decode()
        assert not re.search(r"(^|,)=HYPERLINK", csv, re.MULTILINE)
        picture = ET.fromstring(sheet.saved("SVG"))
        assert not [e for e in picture.iter() if e.tag.endswith(("script", "foreignObject"))]
    assert sheet.saved("PNG")[:4] == b"\x89PNG"
    assert HOSTILE[0] in {entry["token"] for entry in sheet.rows()}
    page = sheet.page
    assert page.evaluate("window.hit") is None
    assert page.evaluate("document.querySelectorAll('img, iframe, body script script').length") == 0
    text = sheet.choose(view="head").page.inner_text(".tokens.from")
    assert "<img src=x onerror=window.hit=2>" in text
    assert "\\u202eright\\u202c" in text
    assert "\\u0000nul" in text
    assert "\\ud800" in text
    assert "שלום" in text
    assert max(map(len, text.splitlines())) < 60
    sheet.clean()


def test_right_to_left_text_is_mirrored(tmp_path: Path, opened: Open) -> None:
    observation = observed(["החתול", "ישב", "על", "המחצלת"])
    sheet = opened(saved(observation, tmp_path), "#view=head")
    box = "e => e.getBoundingClientRect().left"
    page = sheet.page
    assert page.eval_on_selector(".tokens.from", box) > page.eval_on_selector(".tokens.to", box)


def test_a_worked_example(opened: Open, tmp_path: Path) -> None:
    x = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    with regard.record(tokens=["bread", "butter", "rose"]) as trace:
        regard.self_attention(x)
    save_html(tmp_path / "simple.html", subject_of_trace(trace))
    sheet = opened(tmp_path / "simple.html", "#view=steps&from=2")
    rows = sheet.rows()
    assert [r["q·k"] for r in rows] == [2, 2, 2]
    np.testing.assert_allclose([r["weight"] for r in rows], 1 / 3, atol=1e-6)
    text = sheet.page.inner_text(".steps")
    assert "This mechanism does not scale its scores." in text
    assert sheet.page.locator("math").count() >= 5
    sheet.page.locator("[data-step=scores] summary").first.click()
    numbers = sheet.page.locator("[data-step=scores] .numbers").first
    numbers.get_by_text("1.000 × 2.000 = 2.0000").first.wait_for()  # made when it opens
    sheet.clean()
