"""The models that regard trains, read as any other model that reads text."""

from __future__ import annotations

import pytest

from regard.errors import DataError, ModelError
from regard.inside.ownmodel import load_own
from tests.inside.explain.wholes import own_classifier, own_language


def test_a_translator_writes_what_its_decoder_then_reads() -> None:
    model = load_own("transformer")
    assert model.has_both
    source = model.read("Der Hund schläft.")
    assert source.labels[-1] == "</s>"
    written = model.target(source, None)
    assert written.labels[:3] == ["<s>", "▁The", "▁dog"]
    assert len(written.ids) == len(written.labels)
    given = model.target(source, "A dog sleeps.")
    assert given.labels[1] == "▁A"
    assert model.run(source, given).shape[:2] == (1, len(given))


def test_a_language_model_begins_with_a_mark() -> None:
    assert own_language("pre").read("the cat").labels[0] == "<s>"
    assert own_classifier().read("the cat").labels[0] != "<s>"


def test_a_text_that_is_too_long_is_refused() -> None:
    for model in (own_language("pre"), own_classifier(), load_own("transformer")):
        with pytest.raises(DataError, match=r"tokens, more than --max-tokens 3; nothing is cut"):
            model.read("the cat sat on the mat", 3)


@pytest.mark.parametrize(("name", "verb"), [("bahdanau", "translate"), ("lstmn", "read")])
def test_recurrent_designs_are_refused_unless_they_are_asked_for(name: str, verb: str) -> None:
    with pytest.raises(ModelError, match=rf"is recurrent .* 'regard {verb} --model {name}' shows"):
        load_own(name)
    assert load_own(name, recurrent=True).has_both == (name == "bahdanau")


def test_a_model_that_reads_no_text() -> None:
    with pytest.raises(ModelError, match="'fashion' is an image classifier, which reads no text"):
        load_own("fashion")
