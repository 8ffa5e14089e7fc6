"""The spectrogram equals its definition, written out in NumPy, at every rate."""

from __future__ import annotations

import numpy as np
import pytest

from regard.models.spectrogram import mel_filters, spectrogram
from regard.pieces.wave import Wave
from tests.sounds import tone


def by_definition(samples: np.ndarray, rate: int, bands: int, frames: int) -> np.ndarray:
    """Frame by frame and band by band; a plain sum over the samples in place of an FFT."""
    window, size = round(0.025 * rate), round(0.064 * rate)
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)
    padded = np.concatenate([samples.astype(np.float64), np.zeros(rate)])
    hertz = np.arange(size // 2 + 1) * rate / size
    waves = np.exp(-2j * np.pi * np.outer(hertz, np.arange(window)) / rate)
    mels = np.linspace(0, 2595 * np.log10(1 + 4000 / 700), bands + 2)
    edges = 700 * (10 ** (mels / 2595) - 1)
    power = np.zeros((bands, frames))
    for k in range(frames):
        start = round(k * 0.010 * rate)
        heard = np.abs(waves @ (hann * padded[start : start + window])) ** 2
        for b in range(bands):
            triangle = np.interp(hertz, edges[b : b + 3], [0, 1, 0])
            power[b, k] = triangle @ heard
    with np.errstate(divide="ignore"):
        decibels = np.maximum(-80, 10 * np.log10(power / power.max()))
    return np.asarray(255 * (1 + decibels / 80))


@pytest.mark.parametrize("rate", [8000, 11_025])
def test_by_definition(rate: int) -> None:
    samples = np.random.default_rng(5).normal(0, 0.1, round(0.11 * rate)).astype(np.float32)
    found = spectrogram(Wave(samples, rate), 7, 13)
    expected = by_definition(samples, rate, 7, 13)
    assert found.shape == (7, 13)
    assert np.abs(found - expected).max() <= 0.5 + 1e-6  # rounded to whole numbers
    assert found.max() == 255


def test_a_tone_is_loudest_in_its_band_at_every_rate() -> None:
    images = [spectrogram(Wave(tone(1000, 0.3, rate), rate), 32, 20) for rate in (8000, 44_100)]
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + 4000 / 700), 34) / 2595) - 1)
    band = int(np.abs(edges[1:-1] - 1000).argmin())
    for image in images:
        assert set(image.argmax(0).tolist()) == {band}
    loud = (images[0] > 128) & (images[1] > 128)
    assert np.abs(images[0][loud].astype(int) - images[1][loud]).max() <= 3  # 1 dB


def test_how_loud_it_was_recorded_does_not_count() -> None:
    heard = tone(700, 0.2)
    one, other = (spectrogram(Wave(heard / np.float32(by), 8000), 11, 17) for by in (1, 16))
    np.testing.assert_array_equal(one, other)


def test_silence_is_filled_in_and_the_rest_is_left_out() -> None:
    short = spectrogram(Wave(tone(700, 0.1), 8000), 11, 20)
    assert (short[:, 10:] == 0).all()
    assert (short[:, :9].max(0) > 200).all()
    assert (spectrogram(Wave(np.zeros(7, np.float32), 8000), 11, 20) == 0).all()
    heard = tone(700, 0.9)
    np.testing.assert_array_equal(
        spectrogram(Wave(heard, 8000), 11, 5), spectrogram(Wave(heard[:600], 8000), 11, 5)
    )


@pytest.mark.parametrize("bands", [4, 32, 128])
def test_every_band_hears_something(bands: int) -> None:
    assert (mel_filters(bands, 8000, 512).sum(1) > 0).all()
