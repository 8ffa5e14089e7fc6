"""The living page in a real Chromium: typing, what if, bad input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import Mask
from regard.errors import RegardError
from regard.live.carried import CarriedModel
from regard.live.examples import ExampleImage
from regard.live.file import live_html, save_live
from regard.live.proof import Expected, judged, proofs
from regard.models.translators.bahdanau import Annotations, Bahdanau
from regard.models.translators.translation import translate_texts
from tests.browser import Open
from tests.live.conftest import SENTENCES, TOLD, Living
from tests.views.page.test_axe import AXE, FINDINGS

PAGE = Path(__file__).parents[1] / "views" / "page"
SENTENCE = "Er hat den Schlüssel vergessen."


def said(living: Living) -> str:
    text: str = living.sheet.page.inner_text(".live-now")
    return text


def told(living: Living) -> str:
    text: str = living.sheet.page.inner_text(TOLD)
    return text


def what_if(living: Living) -> Any:
    """The page with the controls of "What if" unfolded."""
    page = living.sheet.page
    page.evaluate("document.querySelector('.live-if').open = true")
    return page


@pytest.fixture
def first(living: Living) -> Living:
    """The page with its first model chosen."""
    living.sheet.page.select_option(".live select", "0")
    living.type(SENTENCE)
    return living


def test_a_typed_sentence_is_translated_and_shown(first: Living) -> None:
    model = first.models["bahdanau"]
    right = next(translate_texts(model.network, model.tokenizer, [SENTENCE]))  # type: ignore[arg-type]
    assert said(first) == right.text
    assert re.fullmatch(r"\d+ ms in this browser", told(first))
    shown = first.sheet.page.inner_text("#view-sentence")
    assert {*right.source, *right.target} <= {*shown.split()}


def test_the_data_is_checked_once_however_much_is_typed(living: Living) -> None:
    living.sheet.wait("document.getElementById('whole').textContent === 'Data whole ✓'")
    page = living.sheet.page
    page.evaluate("() => { crypto.subtle.digest = () => Promise.reject(new Error('again')) }")
    living.type(SENTENCE)
    assert page.inner_text("#whole") == "checking the data …"
    living.sheet.wait("document.getElementById('whole').textContent === 'Data whole ✓'")
    page.evaluate("delete crypto.subtle.digest")


def test_a_masked_word_changes_the_translation_as_it_does_in_python(first: Living) -> None:
    model = first.models["bahdanau"]
    assert isinstance(model.network, Bahdanau)
    before = said(first)
    page = what_if(first)
    names = [word.inner_text() for word in page.query_selector_all(".mask-word")]
    place = names.index("Schlüssel")
    page.query_selector_all(".mask-word")[place].click()
    first.settle()
    pieces = model.tokenizer.pieces(model.tokenizer.encode(SENTENCE))
    starts = [i for i, piece in enumerate(pieces) if piece.startswith("▁")]
    hidden = range(starts[place], starts[place + 1])
    assert said(first) == masked_translation(model.network, model, [*hidden])
    assert before in page.inner_text(".live-before")
    assert page.query_selector_all(".mask-word")[place].get_attribute("aria-pressed") == "true"
    page.click("text=Undo all")
    first.settle()
    assert page.query_selector(".live-before") is None
    assert said(first) == before


def masked_translation(network: Bahdanau, model: CarriedModel, hidden: list[int]) -> str:
    """What Python says when no state of the decoder may look at these source tokens."""
    encode = network.encode

    def encode_masked(source: torch.Tensor, lengths: torch.Tensor) -> tuple[Annotations, Any]:
        memory, state = encode(source, lengths)
        allowed = torch.ones(1, 1, source.shape[1], dtype=torch.bool)
        allowed[..., hidden] = False
        return replace(memory, mask=Mask(allowed=allowed)), state

    network.encode = encode_masked  # type: ignore[method-assign]
    try:
        return next(translate_texts(network, model.tokenizer, [SENTENCE])).text
    finally:
        del network.encode


def test_a_cut_link_has_no_weight(first: Living) -> None:
    page = what_if(first)
    assert page.inner_text("text=were cut") == "the link key → Schlüssel were cut"
    page.click("text=were cut")
    first.settle()
    # What is said changes, and the page opens where that has most to tell: back to the cut link.
    page.evaluate("location.hash = 'view=sentence&layer=0&head=0&from=3&to=3&words=1'")
    page.wait_for_selector(".weight-now:text-is('0.0000')", state="attached")
    page.click("text=Undo all")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "there is nothing to read: type at least one word"),
        (" \t\n ", "there is nothing to read"),
        ("\u2003\u3000", "there is nothing to read"),
        ("Wort " * 9000, "a sentence may have 512 tokens, this one has"),
        ("Wort " * 12000, "a text may have 50000 characters here"),
        ("😀👍🎉", "pieces are unknown to the model"),
        ("\x01\x02\x7f\x9f \u202e", "pieces are unknown to the model"),
        ("שלום עולם", "pieces are unknown to the model"),
        ("你好，世界", "pieces are unknown to the model"),
    ],
)
def test_what_cannot_be_read_is_said(living: Living, text: str, answer: str) -> None:
    living.sheet.page.select_option(".live select", "0")
    living.type(text)
    assert answer in told(living)
    living.type(SENTENCE)
    assert said(living)


def test_a_transformer_shows_how_each_text_looks_at_itself(living: Living) -> None:
    living.choose("transformer")
    words = living.sheet.page.locator("#view-sentence .words.from")
    for layer, text in ((0, "Can you help me"), (3, "Können Sie mir helfen"), (6, "<s> Can you")):
        living.sheet.choose(view="sentence", layer=layer, head=0)
        words.filter(has_text=re.compile(r"\s*".join(text.split()))).wait_for()


def test_readers_say_what_comes_next(living: Living) -> None:
    page = living.sheet.page
    living.choose("lstmn")
    living.type("She asked him if he wanted to")
    rows = page.query_selector_all(".next-words tbody tr")
    assert len(rows) == 5
    what_if(living).query_selector_all(".mask-word")[1].click()
    page.wait_for_selector(".next-bar.was")
    page.click("text=Undo all")


def test_it_is_named_readable_and_alone(first: Living) -> None:
    page = what_if(first)
    assert page.evaluate((PAGE / "unnamed.js").read_text()) == []
    assert page.evaluate((PAGE / "faint.js").read_text()) == []
    first.sheet.clean()


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make script fetches it")
@pytest.mark.parametrize("model", ["bahdanau", "lstmn", "fashion"])
def test_axe_finds_nothing(model: str, living: Living) -> None:
    page = living.sheet.page
    living.choose(model)
    page.evaluate("for (const one of document.querySelectorAll('.live details')) one.open = true")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate(FINDINGS) == []


@pytest.mark.parametrize("model", ["near", "fashion"])
def test_in_chinese_it_says_nothing_in_english(
    model: str, carried: dict[str, CarriedModel], tmp_path: Path, opened: Open
) -> None:
    save_live(tmp_path / "live.html", [carried[model]])
    sheet = opened(tmp_path / "live.html", locale="zh-CN")
    sheet.wait("!('running' in document.documentElement.dataset)")
    assert sheet.page.evaluate((PAGE / "english.js").read_text()) == []


PIXELS = """() => {
  const pad = document.querySelector('.pad');
  const { width, height } = pad;
  const { data } = pad.getContext('2d').getImageData(0, 0, width, height);
  return Array.from({ length: width * height }, (_, p) => data[4 * p]);
}"""


@pytest.fixture
def drawing(living: Living) -> Iterator[Living]:
    """The page with the model of images, which shows its first example."""
    living.choose("fashion")
    yield living
    living.choose("bahdanau")


def drawn(living: Living) -> np.ndarray[Any, Any]:
    """What is on the pad."""
    return np.array(living.sheet.page.evaluate(PIXELS), np.uint8).reshape(28, 28, 1)


def wait_for_labels(living: Living, right: Expected) -> None:
    """Until the page names what Python names, in the same order."""
    labels = ",".join(one["word"] for one in right.output[:5])
    shown = "[...document.querySelectorAll('.next-words th')].map((e) => e.textContent).join()"
    living.sheet.wait(f"{shown} === {labels!r}")


def test_a_drawn_image_is_named_as_in_python(drawing: Living) -> None:
    page, model = drawing.sheet.page, drawing.models["fashion"]
    page.click(".pad-tools >> text=Clear")
    drawing.sheet.wait(f"document.querySelector('{TOLD}').textContent.includes('nothing to see')")
    box = page.locator(".pad").bounding_box()
    for x in (0.3, 0.5, 0.7):  # three strokes from top to bottom
        page.mouse.move(box["x"] + x * box["width"], box["y"] + 0.1 * box["height"])
        page.mouse.down()
        page.mouse.move(box["x"] + x * box["width"], box["y"] + 0.9 * box["height"], steps=4)
        page.mouse.up()
    pixels = drawn(drawing)
    assert (pixels[14, [8, 14, 19]] > 200).all()
    assert (pixels[:, [0, 27]] == 0).all()
    right = judged(model.network, None, ExampleImage("drawn", pixels))
    wait_for_labels(drawing, right)


def test_keys_move_an_image_and_clear_it(drawing: Living) -> None:
    page = drawing.sheet.page
    before = drawn(drawing)
    page.focus(".pad")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    moved = np.zeros_like(before)
    moved[:-1, 1:] = before[1:, :-1]
    np.testing.assert_array_equal(drawn(drawing), moved)
    page.keyboard.press("Delete")
    assert not drawn(drawing).any()
    page.click(".examples >> text=trouser")
    wait_for_labels(drawing, proofs(drawing.models["fashion"])[1])


def test_a_hidden_patch_changes_what_the_image_shows(drawing: Living) -> None:
    page = drawing.sheet.page
    page.wait_for_selector(".view-thing .box.best")
    page.locator(".view-thing").get_by_text("were hidden?").click()
    page.wait_for_selector(".next-bar.was")
    assert page.locator(".mask-word[aria-pressed=true]").count() == 1
    page.click("text=Undo all")
    page.wait_for_selector(".next-bar.was", state="detached")


def test_what_is_no_image_is_refused(drawing: Living) -> None:
    for wrong in ("a boot", [1, 2, 3], [256] * 784):
        with pytest.raises(Exception, match="this model reads images: a list of 784 numbers"):
            drawing.look("fashion", wrong)


def test_a_model_that_is_not_there_is_named(living: Living) -> None:
    with pytest.raises(Exception, match=r"there is no model other here \(known: bahdanau, "):
        living.look("other", "a")


def test_the_file_says_whose_it_is_and_forbids_all_else(carried: dict[str, CarriedModel]) -> None:
    text = live_html([carried["near"]])
    assert "worker-src blob:;" in text
    assert "default-src &#x27;none&#x27;" in text
    assert "ask them for the licence" in text
    with pytest.raises(RegardError, match="at least one model"):
        live_html([])


def test_two_sentences_are_compared(living: Living) -> None:
    page = living.sheet.page
    living.choose("tiny-bert")
    page.fill(".live-say input", SENTENCES[1])
    living.type(SENTENCES[0])
    model = living.models["tiny-bert"]
    one, other = (one.output for one in proofs(model))
    cosine = f"{np.dot(one, other):.3f}"
    assert said(living) == f"Likeness of the two: {cosine}"
    what_if(living).query_selector_all(".mask-word")[2].click()
    living.settle()
    assert page.inner_text(".live-before") == f"Without it: {cosine}"
