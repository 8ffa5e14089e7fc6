"""The models that regard trains, as models that read text: by name or by run folder.

A language model begins with <s>; a translator's source ends with </s>, and its decoder reads <s>
and what was written so far.
"""

from __future__ import annotations

from typing import Any

import torch

from regard.errors import ModelError
from regard.inside.textmodel import TextModel, bounded
from regard.models.reading import prepared
from regard.models.translators.translation import translate_texts
from regard.pieces.pieces import Pieces
from regard.pieces.text import check_text, learned_pieces, written_pieces
from regard.pieces.tokenizer import BOS, EOS, SPECIAL
from regard.store.folder import (
    RunFolder,
    kind_of,
    load_classifier,
    load_language_model,
    load_translator,
)
from regard.store.shipped import OF_TEXT, find_folder


class OwnLanguage(TextModel):
    """A language model."""

    def read(self, text: str, most: int | None = None) -> Pieces:
        check_text(text)
        pieces = learned_pieces(self.tokenizer, [prepared(self.tokenizer, text)])[0]
        return bounded(pieces.after(SPECIAL[BOS], BOS), most)


class OwnClassifier(TextModel):
    """A classifier."""

    def read(self, text: str, most: int | None = None) -> Pieces:
        check_text(text)
        return bounded(learned_pieces(self.tokenizer, [prepared(self.tokenizer, text)])[0], most)

    def run(self, tokens: Pieces, target: Pieces | None = None, *, last: bool = False) -> Any:
        with torch.no_grad():
            return self.network(torch.tensor([tokens.ids]), torch.tensor([len(tokens)]))


class OwnTranslator(TextModel):
    """A translator."""

    @property
    def has_both(self) -> bool:
        return True

    def read(self, text: str, most: int | None = None) -> Pieces:
        check_text(text)
        return bounded(learned_pieces(self.tokenizer, [text])[0].before(SPECIAL[EOS], EOS), most)

    def run(self, tokens: Pieces, target: Pieces | None = None, *, last: bool = False) -> Any:
        network: Any = self.network
        source = torch.tensor([tokens.ids]), torch.tensor([len(tokens)])
        with torch.no_grad():
            if target is None:  # the encoder alone
                return network.encode(*source)
            return network(*source, torch.tensor([target.ids]))

    def target(self, tokens: Pieces, text: str | None, most: int | None = None) -> Pieces:
        if text is None:
            network: Any = self.network
            (found,) = translate_texts(network, self.tokenizer, [tokens.text], beam=1)
            text = found.text
        ids = list(self.tokenizer.encode(text))
        written = written_pieces(self.tokenizer, ids)
        return Pieces(**(vars(written) | {"ids": ids})).after(SPECIAL[BOS], BOS)


def load_own(name: str, *, recurrent: bool = False) -> TextModel:
    """The model of that name or run folder, which regard trained.

    Recurrent designs have no layers whose parts could be added up, and are refused, unless
    ``recurrent``: who asks for these steps through the words one by one.
    """
    folder = find_folder(name)
    config = RunFolder(folder).read_config()
    task, design = config["task"], config["model"]["model"]
    if task not in OF_TEXT:
        raise ModelError(f"{name!r} is {kind_of(task)}, which reads no text: see 'regard read'")
    if design != "transformer" and not recurrent:
        verb = "translate" if task == "translate" else "read"
        raise ModelError(
            f"{name!r} is recurrent ({design}): it has no layers of heads that add to a word's "
            f"vector; 'regard {verb} --model {name}' shows what its words attend to, and 'regard "
            "explain' one step of a design that attends, with what is predicted from it"
        )
    if task == "translate":
        return OwnTranslator(name, *load_translator(folder), None)
    if task == "classify":
        return OwnClassifier(name, *load_classifier(folder), None)
    return OwnLanguage(name, *load_language_model(folder), None)
