"""Hugging Face's own code runs what was written, and says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.models.translators.transformer import Transformer
from regard.models.translators.translation import translate_texts
from regard.store.exchange import huggingface
from regard.store.folder import load_translator
from regard.store.shipped import HOME
from tests.store.exchange.small import TOKENS, said, sentences, translator


@pytest.fixture(params=[("post", ""), ("pre", ""), ("pre", "silu")])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Transformer, Any, Any]:
    """Our model, and theirs with its tokenizer."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    norm, activation = request.param
    ours = translator(norm=norm, activation=activation)
    assert isinstance(ours, Transformer)
    huggingface.write(tmp_path, ours, TOKENS)
    theirs, loading = AutoModelForSeq2SeqLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(loading.values()), "nothing is missing, nothing is left over"
    return ours, theirs.eval(), AutoTokenizer.from_pretrained(tmp_path)


def test_the_same_logits_and_translations(both: tuple[Transformer, Any, Any]) -> None:
    ours, theirs, tokenizer = both
    texts = sentences()
    read = tokenizer(texts, return_tensors="pt", padding=True)
    ids, mask = read["input_ids"], read["attention_mask"]
    assert ids[0, : int(mask[0].sum())].tolist() == [*TOKENS.encode(texts[0]), 3]
    target = torch.randint(4, len(TOKENS), (len(texts), 11))
    with torch.no_grad():
        expected = ours(ids, mask.sum(-1), target)
        got = theirs(input_ids=ids, attention_mask=mask, decoder_input_ids=target).logits
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-4)
    with torch.no_grad():
        generated = theirs.generate(
            input_ids=ids, attention_mask=mask, num_beams=1, max_new_tokens=12
        )
    got = [[i for i in row if i > 3] for row in generated.tolist()]
    assert got == [[i for i in row if i > 3] for row in said(ours, texts, 12)]


def test_a_trained_models_beam_search(tmp_path: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    ours, tokens = load_translator(HOME / "transformer")
    assert isinstance(ours, Transformer)
    huggingface.write(tmp_path, ours, tokens)
    theirs = AutoModelForSeq2SeqLM.from_pretrained(tmp_path).eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    texts = ["Das ist schade.", "Ich habe Hunger.", "Können Sie mir helfen?", "Es regnet."]
    with torch.no_grad():
        ids = theirs.generate(**tokenizer(texts, return_tensors="pt", padding=True))
    decoded = tokenizer.batch_decode(ids, skip_special_tokens=True)
    assert decoded == [t.text for t in translate_texts(ours, tokens, texts)]
