"""Words with vectors, and how a binary file writes them; a text to learn others from."""

from __future__ import annotations

import numpy as np

TEXT = """Machine learning is fascinating
Natural language processing is important

Word embeddings capture semantic relations
"""

VALUES = np.array([[0.5, -1, 2e-3], [1, 2, 3], [-0.25, 0.125, 7]], dtype=np.float32)

NAMES = ["the", "café", "我"]


def binary(names: list[str], values: np.ndarray, newline: bytes = b"") -> bytes:
    rows = (
        n.encode() + b" " + v.astype("<f4").tobytes() for n, v in zip(names, values, strict=True)
    )
    return f"{len(names)} {values.shape[1]}\n".encode() + b"".join(row + newline for row in rows)
