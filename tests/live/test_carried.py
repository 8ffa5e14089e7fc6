"""What a page carries of a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import ConfigError, FileError
from regard.live.carried import CarriedModel, carry, full, names_of, vocabulary_data
from regard.pieces.text import learned_pieces
from regard.pieces.tokenizer import Tokenizer
from regard.store.weights import named_weights
from regard.views.page.inline import script
from tests.live.lines import lines
from tests.live.runs import TEXTS, save_run
from tests.live.signs import FILE, signs_script

COUNT = 600
READ = """
([vocabulary, lines]) => {
  SCRIPT
  const tokenizer = new of_tokenizer.Tokenizer(vocabulary);
  return lines.map((line) => {
    const { ids, labels, words } = tokenizer.read(line);
    const cut = tokenizer.cut(line).map(({ id }) => id);
    return { cut, ids, labels, words: words.map(({ name }) => name), text: tokenizer.decode(cut) };
  });
}
"""


def test_shipped_weights_are_carried_as_they_are(carried: dict[str, CarriedModel]) -> None:
    model = carried["bahdanau"]
    assert (model.bits, model.original) == (8, None)
    assert "CC-BY" in model.origin
    own = named_weights(model.network)
    assert {*names_of(model)} == {*own}
    for name, weight in full(model.weights).items():
        assert torch.equal(weight, own[name])


def test_a_run_is_carried_in_half_precision(carried: dict[str, CarriedModel]) -> None:
    model = carried["apart"]
    assert model.bits == 16
    assert model.examples == tuple(TEXTS[:2])
    assert {weight.dtype for weight in model.weights.values()} == {torch.float16}
    assert model.original is not None
    before, after = named_weights(model.original), named_weights(model.network)
    name = "decoder.gates"
    assert torch.equal(after[name], before[name].half().float())
    assert not torch.equal(after[name], before[name])


def test_what_cannot_be_carried_is_said(tmp_path: Path) -> None:
    folder = save_run(tmp_path, "near")
    config = json.loads((folder / "config.json").read_text())
    config["model"]["model"] = "lstm"
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=r"runs these designs .*lstmn.*got lm with 'lstm'"):
        carry(str(folder))
    with pytest.raises(FileError, match=r"nor a model that a living page carries \(.*, minilm\)"):
        carry("bahdanu")
    folder = save_run(tmp_path, "apart")
    config = json.loads((folder / "config.json").read_text())
    config["model"]["pointer"] = True
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=r"a living page's script has no pointer.*apart'"):
        carry(str(folder))
    config["model"] |= {"pointer": False, "activation": "silu"}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match=r"has relu alone in its feed-forward.*apart' silu$"):
        carry(str(folder))


def test_tokens_of_another_maker_are_refused(tmp_path: Path) -> None:
    """The page's script would cut text by regard's own rules."""
    folder = save_run(tmp_path, "post")
    tokens = json.loads((folder / "tokens.json").read_text())
    tokens["normalizer"] = {"type": "Lowercase"}
    (folder / "tokens.json").write_text(json.dumps(tokens))
    with pytest.raises(ConfigError, match=r"as regard's own tokens do, and '.*post' has others"):
        carry(str(folder))


def test_a_run_without_its_test_sentences_asks_for_some(tmp_path: Path) -> None:
    folder = save_run(tmp_path, "near")
    (folder / "test.txt").unlink()
    with pytest.raises(FileError, match="give some with --example"):
        carry(str(folder))
    assert carry(str(folder), examples=["the dog"]).examples == ("the dog",)


@pytest.mark.parametrize("level", ["german-english", "word", "space"])
def test_the_page_cuts_a_text_as_python_does(level: Any, browser: Any) -> None:
    from regard.store.shipped import HOME

    texts = lines(COUNT)
    shipped = level == "german-english"
    tokens = (
        Tokenizer.load(HOME / f"{level}.json") if shipped else Tokenizer.train(texts, 400, level)
    )
    context = browser.new_context(offline=True)
    found = context.new_page().evaluate(
        READ.replace("SCRIPT", script("tokenizer")), [vocabulary_data(tokens), texts]
    )
    context.close()
    read = learned_pieces(tokens, texts)
    for text, ours, ids, pieces in zip(texts, found, tokens.encode_all(texts), read, strict=True):
        assert ours["cut"] == ids, repr(text)
        assert ours["ids"] == pieces.ids, repr(text)
        assert ours["text"] == tokens.decode(ids), repr(text)
        if max(map(ord, text), default=0) < 0x10000:  # later signs are as new as each Unicode table
            assert ours["labels"] == pieces.labels, repr(text)
            assert ours["words"] == [word.text for word in pieces.words], repr(text)


def test_the_table_of_signs_is_the_librarys() -> None:
    assert FILE.read_text(encoding="utf-8") == signs_script(), "run python -m tests.live.signs"


def test_the_page_cuts_wordpieces_as_the_library_does(browser: Any) -> None:
    texts = [text for text in lines(COUNT) if text.strip()]
    tokens = _spelling(texts)
    source = "([vocabulary, lines]) => { SCRIPT const cut = new of_wordpiece.WordPiece(vocabulary);"
    source += " return lines.map((line) => cut.read(line).ids); }"
    context = browser.new_context(offline=True)
    found = context.new_page().evaluate(
        source.replace("SCRIPT", script("wordpiece")), [vocabulary_data(tokens), texts]
    )
    context.close()
    for text, ours, theirs in zip(texts, found, tokens.encode_batch(texts), strict=True):
        assert ours == theirs.ids, repr(text)


def _spelling(texts: list[str]) -> Any:
    """WordPiece that has every sign of the texts, at a word's start and inside it, and no more."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    signs = sorted(set(normalizers.BertNormalizer().normalize_str("".join(texts))))
    pieces = [*marks, *signs, *(f"##{sign}" for sign in signs)]
    made = Tokenizer(models.WordPiece({p: i for i, p in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    made.add_special_tokens(marks)
    return made
