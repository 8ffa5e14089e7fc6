from __future__ import annotations

from pathlib import Path

import pytest

from regard.models.translators.transformer import Transformer
from regard.store.exchange import ctranslate2
from tests.store.exchange.small import TOKENS, said, sentences, translator


@pytest.mark.parametrize(
    ("norm", "tied", "activation"),
    [("post", True, ""), ("pre", True, "relu"), ("pre", False, ""), ("post", True, "silu")],
)
def test_the_engine_says_the_same(norm: str, tied: bool, activation: str, tmp_path: Path) -> None:
    engine = pytest.importorskip("ctranslate2")
    ours = translator(norm=norm, tied=tied, activation=activation)
    assert isinstance(ours, Transformer)
    ctranslate2.write(tmp_path, ours, TOKENS)
    theirs = engine.Translator(str(tmp_path), intra_threads=1)
    texts = sentences()
    sources = [TOKENS.pieces(TOKENS.encode(text)) for text in texts]
    ids = TOKENS.tokenizer.token_to_id
    results = theirs.translate_batch(
        sources, beam_size=1, max_decoding_length=12, min_decoding_length=0
    )
    found = [[ids(token) for token in result.hypotheses[0]] for result in results]
    assert found == said(ours, texts, 12)
