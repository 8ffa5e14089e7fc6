"""The page of a finished run: what is in it, and that text in it stays text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regard.store.folder import RunFolder
from regard.store.shipped import HOME
from regard.train.run.report import write_report

VALID: list[dict[str, Any]] = [
    {"event": "valid", "step": 10, "loss": 3.0, "score": 5.0, "name": "BLEU"},
    {"event": "valid", "step": 20, "loss": 2.0, "score": 9.0, "name": "BLEU"},
]


def page(tmp_path: Path, events: list[dict[str, Any]], config: dict[str, Any]) -> str:
    run = RunFolder(tmp_path)
    run.write_config(config)
    run.log.write_text("".join(json.dumps(event) + "\n" for event in events))
    write_report(run)
    return run.report.read_text(encoding="utf-8")


def test_a_translators_page(tmp_path: Path) -> None:
    for name in ("model.safetensors", "card.md"):
        (tmp_path / name).write_bytes((HOME / "bahdanau" / name).read_bytes())
    config = json.loads((HOME / "bahdanau" / "config.json").read_text())
    tokens = (HOME / "bahdanau" / config["tokens"]).resolve()
    said = ["<script>alert(1)</script>", "That's a pity."]
    sample = {"source": "Das ist schade.", "reference": "What a pity."}
    events = [
        {"event": "train", "step": 5, "loss": 4.0},
        *(e | {"samples": [sample | {"said": s}]} for e, s in zip(VALID, said, strict=True)),
        {"event": "end", "step": 10, "reason": "steps", "figure": 2.0, "averaged": False},
        {"event": "end", "step": 20, "reason": "steps", "figure": 9.0, "averaged": True},
    ]
    text = page(tmp_path, events, config | {"tokens": str(tokens)})
    assert text.count("<svg") == 3, "loss, BLEU, one alignment"
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<th>step 10<td>" in text
    assert "<th>reference<td>What a pity." in text
    assert "validation BLEU 9.00, of the average of the best checkpoints." in text
    assert "validation BLEU 2.00" not in text, "it went on"
    assert "<title>" in text
    assert "schade" in text[text.index("Where it looks") :]
    assert "tatoeba.org" in text, "the card goes along"
    assert "http" not in text.replace("http://www.w3.org", ""), "nothing is fetched"


def test_a_run_that_went_by_its_loss(tmp_path: Path) -> None:
    """The figure of its end is a loss, though BLEU was measured too."""
    end = {"event": "end", "step": 20, "reason": "steps", "figure": 2.0, "averaged": False}
    config = {"task": "translate", "model": {"model": "bahdanau"}, "train": {"monitor": "loss"}}
    text = page(tmp_path, [*VALID, end], config)
    assert "after 20 updates; validation loss 2.00." in text
    assert "- validation loss 2.00 after 20 updates" in text, "the card"
    assert "BLEU 2.00" not in text


def test_a_run_without_samples_or_score(tmp_path: Path) -> None:
    valid = [{k: v for k, v in event.items() if k not in ("score", "name")} for event in VALID]
    config = {"task": "lm", "model": {"model": "lstm"}, "data": {}, "train": {"smoothing": 0.1}}
    text = page(tmp_path, valid, config)
    assert text.count("<svg") == 1
    assert "What it said" not in text
    assert "# lstm: a language model" in text
