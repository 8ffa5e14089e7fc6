"""What a page without a model stores: each word masked, each head removed."""

from __future__ import annotations

from pathlib import Path

import pytest

import regard
from regard.inside.whatif import stored
from regard.inside.whatif.stored import stored_trials
from tests.inside.explain import wholes


def test_words_and_heads_in_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = wholes.causal(tmp_path)
    tokens = model.read("The animal was tired")
    found = stored_trials(model, tokens, None)
    words = [masked for masked, _, _ in found.carried if masked]
    heads = [removed[0] for _, removed, _ in found.carried if removed]
    assert words == [tuple(range(w.start, w.stop)) for w in tokens.words if w.text != "</s>"]
    assert heads == [(layer, head) for layer in range(2) for head in range(4)]
    with regard.intervene(model.network) as hands:
        hands.remove(layer=0, head=1)
        own = model.run(tokens).logits[0, -1].double().softmax(-1)
    after = found.carried[len(words) + 1][2]
    assert after.predictions[0].probability == pytest.approx(float(own.max()), rel=1e-4)
    content = found.to_dict()
    assert content["carried"][0]["masked"] == words[0]
    monkeypatch.setattr(stored, "MOST", len(words))
    assert all(not removed for _, removed, _ in stored_trials(model, tokens, None).carried)
