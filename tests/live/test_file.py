"""The living page in a real Chromium: typing, what if, bad input."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import Mask
from regard.errors import RegardError
from regard.live.carried import CarriedModel
from regard.live.file import live_html, save_live
from regard.live.proof import proofs
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


def test_readers_say_what_comes_next(living: Living) -> None:
    page = living.sheet.page
    page.select_option(".live select", "4")
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
@pytest.mark.parametrize("model", [0, 4])
def test_axe_finds_nothing(model: int, living: Living) -> None:
    page = living.sheet.page
    page.select_option(".live select", str(model))
    living.settle()
    page.evaluate("for (const one of document.querySelectorAll('.live details')) one.open = true")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert page.evaluate(FINDINGS) == []


def test_in_chinese_it_says_nothing_in_english(
    carried: dict[str, CarriedModel], tmp_path: Path, opened: Open
) -> None:
    save_live(tmp_path / "near.html", [carried["near"]])
    sheet = opened(tmp_path / "near.html", locale="zh-CN")
    sheet.wait("!('running' in document.documentElement.dataset)")
    assert sheet.page.evaluate((PAGE / "english.js").read_text()) == []


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
    page.select_option(".live select", str(len(living.models) - 1))
    living.settle()
    page.fill(".live-say input", SENTENCES[1])
    living.type(SENTENCES[0])
    model = living.models["tiny-bert"]
    one, other = (one.output for one in proofs(model))
    cosine = f"{np.dot(one, other):.3f}"
    assert said(living) == f"Likeness of the two: {cosine}"
    what_if(living).query_selector_all(".mask-word")[2].click()
    living.settle()
    assert page.inner_text(".live-before") == f"Without it: {cosine}"
