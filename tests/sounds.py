"""Wav files for tests, written byte by byte."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def wav(
    content: bytes, *, code: int = 1, channels: int = 1, rate: int = 8000, bits: int = 16
) -> bytes:
    """A file of these bytes of samples."""
    step = channels * bits // 8
    form = struct.pack("<HHIIHH", code, channels, rate, rate * step, step, bits)
    parts = b"fmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", len(content))
    return b"RIFF" + struct.pack("<I", 4 + len(parts) + len(content)) + b"WAVE" + parts + content


def tone(hertz: float, seconds: float, rate: int = 8000) -> NDArray[np.float32]:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(
        np.float32
    )


def save_tone(file: Path, hertz: float, seconds: float = 0.2, noise: int = 0) -> None:
    """A tone of 16 bits with a little noise of the seed ``noise``."""
    heard = tone(hertz, seconds).astype(np.float64)
    heard += np.random.default_rng(noise).normal(0, 0.02, len(heard))
    file.write_bytes(wav((heard * 32767).astype("<i2").tobytes()))
