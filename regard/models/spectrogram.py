"""Spectrogram: how loud a sound is, frame by frame and band by band, as an image of bytes.

A frame k is the samples from k · 10 ms on, 25 ms of them under a Hann window w; its power at the
frequency f is |FFT(w x)|². A band sums it under a triangle; the triangles stand at equal distances
on the mel scale, mel(f) = 2595 log10(1 + f / 700), from 0 to 4,000 Hz. Then

    value = 255 · (1 + max(-80, 10 log10(power / the loudest power)) / 80), rounded

so that 255 is the loudest of the sound and 0 what is 80 dB below it, or silence. All lengths are
in seconds: sounds with other numbers of samples a second give the same image, without resampling.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.pieces.wave import Wave

STEP = 0.010
"""Seconds from frame to frame,"""
WINDOW = 0.025
"""and of a frame."""
TRANSFORM = 0.064
"""Seconds that the FFT is filled up to with zeros: frequencies stand 1/0.064 = 15.6 Hz apart."""
HIGHEST = 4000.0
"""Hz; half of the least rate that a wave may have."""
DEPTH = 80.0
"""dB below the loudest at which silence begins."""


def spectrogram(wave: Wave, bands: int, frames: int) -> NDArray[np.uint8]:
    """(bands, frames), the lowest band first; a shorter sound is filled up with silence, of a
    longer one the rest is left out."""
    window, size = round(WINDOW * wave.rate), round(TRANSFORM * wave.rate)
    starts = [round(k * STEP * wave.rate) for k in range(frames)]
    samples = torch.zeros(starts[-1] + window, dtype=torch.float64)
    kept = wave.samples[: len(samples)]
    samples[: len(kept)] = torch.from_numpy(kept.astype(np.float64))
    cut = torch.stack([samples[start : start + window] for start in starts])
    cut = cut * torch.hann_window(window, dtype=torch.float64)
    power = torch.fft.rfft(cut, size).abs().square()
    loud = mel_filters(bands, wave.rate, size) @ power.T
    most = float(loud.max())
    if most == 0:
        return np.zeros((bands, frames), np.uint8)
    decibels = 10 * (loud / most).clamp(min=10 ** (-DEPTH / 10)).log10()
    image: NDArray[np.uint8] = (255 * (1 + decibels / DEPTH)).round().to(torch.uint8).numpy()
    return image


@lru_cache(maxsize=8)
def mel_filters(bands: int, rate: int, size: int) -> Tensor:
    """(bands, size // 2 + 1): the weight of each frequency of an FFT of ``size`` in each band."""
    top = 2595 * np.log10(1 + HIGHEST / 700)
    edges = torch.from_numpy(700 * (10 ** (np.linspace(0, top, bands + 2) / 2595) - 1))
    frequencies = torch.arange(size // 2 + 1, dtype=torch.float64) * rate / size
    low, middle, high = (edges[i : bands + i, None] for i in range(3))
    rising, falling = (frequencies - low) / (middle - low), (high - frequencies) / (high - middle)
    return torch.minimum(rising, falling).clamp(min=0)
