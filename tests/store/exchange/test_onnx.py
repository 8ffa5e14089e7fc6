from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.models.translators.transformer import Transformer
from regard.store.exchange import onnx
from tests.store.exchange.small import TOKENS, classifier, language, said, sentences, translator


def session(file: Path) -> Any:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    return runtime.InferenceSession(str(file))


@pytest.mark.parametrize(
    ("norm", "tied", "activation"), [("post", True, ""), ("pre", False, ""), ("pre", True, "silu")]
)
def test_the_same_logits_and_translations(
    norm: str, tied: bool, activation: str, tmp_path: Path
) -> None:
    ours = translator(norm=norm, tied=tied, activation=activation)
    assert isinstance(ours, Transformer)
    pytest.importorskip("onnx")
    onnx.write(tmp_path, ours, TOKENS)
    encoder, decoder = session(tmp_path / "encoder.onnx"), session(tmp_path / "decoder.onnx")
    texts = sentences()
    ids = [[*TOKENS.encode(text), 3] for text in texts]
    longest = max(map(len, ids))
    source = np.array([row + [0] * (longest - len(row)) for row in ids])
    given = {"source_mask": (source != 0).astype(np.int64)}
    given["memory"] = encoder.run(None, {"source": source, **given})[0]
    target = np.full((len(texts), 1), 2)
    lengths = torch.tensor([len(row) for row in ids])
    for _ in range(9):  # as the README of an export does it, all sentences at once
        logits = decoder.run(None, {"target": target, **given})[0]
        with torch.no_grad():
            expected = ours(torch.tensor(source), lengths, torch.tensor(target)).numpy()
        np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-4)
        logits[:, -1, [0, 2]] = -np.inf
        target = np.concatenate((target, logits[:, -1].argmax(-1)[:, None]), -1)
    assert [row[: row.index(3)] if 3 in row else row for row in target[:, 1:].tolist()] == said(
        ours, texts, 9
    )


@pytest.mark.parametrize("changes", [{}, {"norm": "post", "tied": False}])
def test_a_language_models_logits(changes: dict[str, Any], tmp_path: Path) -> None:
    ours = language(**changes)
    pytest.importorskip("onnx")
    onnx.write(tmp_path, ours, TOKENS)
    ids = torch.randint(4, len(TOKENS), (3, 13))
    (logits,) = session(tmp_path / "model.onnx").run(None, {"ids": ids.numpy()})
    with torch.no_grad():
        np.testing.assert_allclose(logits, ours(ids).numpy(), rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("design", "readout"),
    [
        ("words", "mean"),
        ("simple-rnn", "last"),
        ("lstm", "mean"),
        ("lstmn", "attention"),
        ("transformer", "attention"),
    ],
)
def test_a_classifiers_logits(design: str, readout: str, tmp_path: Path) -> None:
    ours = classifier(design, readout=readout)
    pytest.importorskip("onnx")
    use = onnx.write(tmp_path, ours, TOKENS)
    assert "# of bad, fair, good" in use
    ids = torch.randint(4, len(TOKENS), (200, 11))
    lengths = torch.randint(1, 12, (200,))
    mask = torch.arange(11) < lengths.unsqueeze(1)
    given = {"ids": (ids * mask).numpy(), "mask": mask.long().numpy()}
    (logits,) = session(tmp_path / "model.onnx").run(None, given)
    with torch.no_grad():
        expected = ours(ids * mask, lengths).logits.numpy()
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-4)
    assert logits.std(0).max() > 0.01, "sentences differ"
