"""One living page of many models, opened once in a real Chromium with all network refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from regard.live.carried import CarriedModel, carry, carry_bert
from regard.live.file import save_live
from tests.browser import Sheet
from tests.live.runs import ODD, save_run
from tests.models.bert.tinybert import save_tiny

SHIPPED = (
    *("bahdanau", "transformer", "encoder-decoder", "word-by-word"),
    *("lstmn", "simple-rnn+attention", "fashion"),
)


SENTENCES = ("The animal didn't cross the street.", "unbelievable: the tired dog sat on it")
TOLD = ".ask-row [role=status]"
"""Where the page says how it went."""


class Living(NamedTuple):
    """The page, and the models that it carries, as Python has them."""

    sheet: Sheet
    models: dict[str, CarriedModel]

    def look(self, model: str, given: str | list[int]) -> dict[str, Any]:
        """What the page makes of a text or an image, by its own door for scripts."""
        found: dict[str, Any] = self.sheet.page.evaluate(
            "([given, model]) => window.regard.look(given, { model })", [given, model]
        )
        return found

    def choose(self, model: str) -> None:
        """Another model of the page, with its first example."""
        self.sheet.page.select_option(".live select", str([*self.models].index(model)))
        self.settle()

    def type(self, text: str) -> None:
        """Type a text as a person does, and wait until it is dealt with."""
        page = self.sheet.page
        page.fill(".live textarea", text)
        page.press(".live textarea", "Enter")
        self.settle()

    def settle(self) -> None:
        """Wait until the model has said its last word."""
        self.sheet.wait("!('running' in document.documentElement.dataset)")


@pytest.fixture(scope="package")
def carried(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CarriedModel]:
    folder = tmp_path_factory.mktemp("runs")
    names = [*SHIPPED, *(str(save_run(folder, name)) for name in ODD)]
    save_tiny(folder / "tiny-bert")
    bert = carry_bert("tiny-bert", folder / "tiny-bert", examples=SENTENCES)
    return {model.name: model for model in (*map(carry, names), bert)}


@pytest.fixture(scope="package")
def living(
    carried: dict[str, CarriedModel], browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Living]:
    file = Path(tmp_path_factory.mktemp("living")) / "living.html"
    save_live(file, list(carried.values()))
    size = {"width": 1280, "height": 860}
    context = browser.new_context(viewport=size, offline=True, reduced_motion="reduce")
    yield Living(Sheet(context.new_page(), file).goto(), carried)
    context.close()
