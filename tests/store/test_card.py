from __future__ import annotations

import json
from pathlib import Path

from regard.store.card import card_of
from regard.store.folder import RunFolder
from regard.store.shipped import HOME


def test_a_card_that_was_written_is_the_card() -> None:
    assert card_of(RunFolder(HOME / "bahdanau")) == (HOME / "bahdanau" / "card.md").read_text()


def test_a_card_made_from_config_and_log(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write_config(
        {
            "task": "translate",
            "data": {"pairs": "/home/me/secret/pairs.tsv", "source": None, "level": "bpe"},
            "model": {"model": "bahdanau", "width": 96, "tied": True},
            "made": {"regard": "9.9"},
        }
    )
    bare = card_of(run)
    assert bare.startswith("# bahdanau: a translator\n\nTrained by regard 9.9.\n")
    assert "- pairs: pairs.tsv\n- level: bpe" in bare
    assert "secret" not in bare
    assert "- width: 96" in bare
    events = [
        {"event": "data", "train": 1234, "valid": 56},
        {"event": "valid", "step": 500, "loss": 2.5, "score": 31.25, "name": "BLEU"},
    ]
    run.log.write_text("".join(json.dumps(e) + "\n" for e in events) + '{"event": "tr')
    assert "- 1,234 examples to train on, 56 to validate\n" in card_of(run)
    assert "- validation BLEU 31.25 after 500 updates\n" in card_of(run)
    assert "began" not in card_of(run)
    run.write_config(run.read_config() | {"train": {"monitor": "loss"}})
    assert "- validation loss 2.50 after 500 updates\n" in card_of(run)


def test_a_card_says_what_it_began_with_and_what_was_frozen(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    train = {"start": "/home/me/runs/first/", "freeze": "encoder"}
    run.write_config({"task": "lm", "data": {}, "model": {}, "train": train})
    card = card_of(run)
    assert "- began with the weights of first\n- not trained, kept as they began: encoder\n" in card
    assert "/home/me" not in card
    train["start"] = "runs/second/model.safetensors"
    run.write_config({"task": "lm", "data": {}, "model": {}, "train": train})
    assert "- began with the weights of second\n" in card_of(run)
