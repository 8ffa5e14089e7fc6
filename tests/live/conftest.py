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
    *("lstmn", "simple-rnn+attention"),
)


SENTENCES = ("The animal didn't cross the street.", "unbelievable: the tired dog sat on it")
TOLD = ".ask-row [role=status]"
"""Where the page says how it went."""


class Living(NamedTuple):
    """The page, and the models that it carries, as Python has them."""

    sheet: Sheet
    models: dict[str, CarriedModel]

    def look(self, model: str, text: str) -> dict[str, Any]:
        """What the page makes of a text, by its own door for scripts."""
        found: dict[str, Any] = self.sheet.page.evaluate(
            "([text, model]) => window.regard.look(text, { model })", [text, model]
        )
        return found

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
    context = browser.new_context(viewport={"width": 1280, "height": 860}, offline=True)
    yield Living(Sheet(context.new_page(), file).goto(), carried)
    context.close()
