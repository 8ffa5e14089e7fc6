"""Recurrent language models in ONNX say what they say here: tapes, windows, several layers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.store.exchange import onnx
from tests.store.exchange.small import TOKENS, language

SMALL = {"width": 11, "hidden": 13}


@pytest.mark.parametrize(
    "changes",
    [
        {"design": "simple-rnn", **SMALL},
        {"design": "simple-rnn+attention", "layers": 2, **SMALL},
        # Larger weights make this one chaotic: float32 itself is 1e-3 from float64 then.
        {"design": "simple-rnn+attention", "form": "xch", "score": "dot", "window": 3, **SMALL}
        | {"strength": 1.0},
        {"design": "lstm", "layers": 2, "tied": False, **SMALL},
        {"design": "lstmn", "layers": 2, **SMALL},
        {"design": "lstmn", "recency": 1.5, "window": 3, **SMALL},
    ],
)
def test_every_recurrent_design(changes: dict[str, Any], tmp_path: Path) -> None:
    """Of 200 sentences of one length, and of one of a single token."""
    ours = language(**changes)
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    onnx.write(tmp_path, ours, TOKENS)
    theirs = runtime.InferenceSession(str(tmp_path / "model.onnx"))
    for shape in ((200, 13), (1, 1)):
        ids = torch.randint(4, len(TOKENS), shape)
        (logits,) = theirs.run(None, {"ids": ids.numpy()})
        with torch.no_grad():
            np.testing.assert_allclose(logits, ours(ids).numpy(), rtol=0, atol=1e-4)
