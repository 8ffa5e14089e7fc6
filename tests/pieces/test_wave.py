"""Wav files of every kind give the same sound; others are refused in one line."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.pieces.wave import Wave, read_wave
from tests.sounds import tone, wav

HEARD = np.array([0.0, 0.5, -0.25, -1.0, 0.125])


def three_bytes(values: np.ndarray) -> bytes:
    return b"".join(struct.pack("<i", v)[:3] for v in (values * 2**23).astype(int).tolist())


@pytest.mark.parametrize(
    ("content", "code", "bits"),
    [
        ((HEARD * 128 + 128).astype(np.uint8).tobytes(), 1, 8),
        ((HEARD * 2**15).astype("<i2").tobytes(), 1, 16),
        (three_bytes(HEARD), 1, 24),
        ((HEARD * 2**31).astype("<i4").tobytes(), 1, 32),
        (HEARD.astype("<f4").tobytes(), 3, 32),
        (HEARD.astype("<f8").tobytes(), 3, 64),
    ],
)
def test_every_kind_of_number(tmp_path: Path, content: bytes, code: int, bits: int) -> None:
    (tmp_path / "a.wav").write_bytes(wav(content, code=code, bits=bits, rate=11_025))
    found = read_wave(tmp_path / "a.wav")
    assert found.samples.tolist() == HEARD.tolist()
    assert found.rate == 11_025
    assert found.seconds == pytest.approx(5 / 11_025)


def test_the_mean_of_the_channels(tmp_path: Path) -> None:
    both = np.array([[100, 300], [-200, 0], [7, 7]], "<i2")
    (tmp_path / "a.wav").write_bytes(wav(both.tobytes(), channels=2))
    assert (read_wave(tmp_path / "a.wav").samples * 2**15).tolist() == [200, -100, 7]


def test_other_parts_are_passed_over_and_the_real_format_is_found(tmp_path: Path) -> None:
    content = (HEARD * 2**15).astype("<i2").tobytes()
    form = struct.pack("<HHIIHH", 0xFFFE, 1, 8000, 16_000, 2, 16)
    form += struct.pack("<HHIH", 22, 16, 4, 1) + bytes(14)
    odd = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    parts = odd + b"fmt " + struct.pack("<I", len(form)) + form + odd
    parts += b"data" + struct.pack("<I", len(content)) + content
    (tmp_path / "a.wav").write_bytes(b"RIFF" + struct.pack("<I", 4 + len(parts)) + b"WAVE" + parts)
    assert read_wave(tmp_path / "a.wav").samples.tolist() == HEARD.tolist()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no wav file: it should begin with RIFF and WAVE"),
        (b"ID3 this is an mp3", "is no wav file"),
        (wav(b""), "has no sound in it: its length is zero"),
        (wav(bytes(50))[:-7], "is cut off: it should have 50 bytes of sound, and 43 are there"),
        (wav(bytes(50))[:20], "is a damaged wav file: its format has 0 bytes"),
        (wav(bytes(50))[:36], "is a wav file without samples"),
        (wav(bytes(8), bits=12), "has samples of 12 bits in format 1; regard reads PCM of 8, 16"),
        (wav(bytes(8), code=85), "has samples of 16 bits in format 85"),
        (wav(bytes(8), rate=4000), "1 to 64 channels and 8,000 to 384,000 samples a second; "),
        (wav(bytes(8), rate=2_000_000_000), "has 1 and 2,000,000,000"),
        (wav(bytes(8), channels=0), "has 0 and 8,000"),
        (wav(np.array([np.nan], "<f4").tobytes(), code=3, bits=32), "samples that are no numbers"),
    ],
)
def test_refused(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.wav").write_bytes(content)
    with pytest.raises(DataError) as error:
        read_wave(tmp_path / "a.wav")
    assert said in str(error.value)
    assert "a.wav" in str(error.value)
    assert "\n" not in str(error.value)


def test_size_is_bounded_before_it_is_read(tmp_path: Path) -> None:
    head = wav(b"")[:-4] + struct.pack("<I", 0xFFFFFFFF)
    (tmp_path / "a.wav").write_bytes(head)
    with pytest.raises(DataError, match="would have 4,294,967,295 bytes of sound, more than"):
        read_wave(tmp_path / "a.wav")
    with pytest.raises(DataError, match=r"cannot read .*none\.wav"):
        read_wave(tmp_path / "none.wav")


def test_another_rate_keeps_tone_and_length() -> None:
    """440 Hz for 0.2 s, a whole number of waves, are the same numbers at any rate above 880."""
    low, high = (Wave(tone(440, 0.2, rate), rate) for rate in (8000, 16000))
    np.testing.assert_allclose(low.at_rate(16000).samples, high.samples, atol=1e-5)
    np.testing.assert_allclose(high.at_rate(8000).samples, low.samples, atol=1e-5)
    assert low.at_rate(8000) is low
    assert low.at_rate(11025).seconds == pytest.approx(0.2)
