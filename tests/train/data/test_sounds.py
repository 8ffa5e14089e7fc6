"""Sounds of folders: labels by folder or by name, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.models.spectrogram import spectrogram
from regard.pieces.wave import read_wave
from regard.train.data.sounds import read_sounds
from tests.sounds import save_tone


def test_labels_by_folder_or_by_name(tmp_path: Path) -> None:
    for label in ("high", "low"):
        (tmp_path / "folders" / label).mkdir(parents=True)
    (tmp_path / "names").mkdir()
    for number, label in enumerate(("low", "high", "low")):
        for file in (f"folders/{label}/{number}.WAV", f"names/{label}_someone_{number}.wav"):
            save_tone(tmp_path / file, 300 + 100 * number, 0.05 + 0.1 * number, number)
    (tmp_path / "folders" / "low" / "notes.txt").write_text("no sound")
    one, other = (read_sounds(tmp_path / name, 7, 20) for name in ("folders", "names"))
    assert one.labels == other.labels == ["high", "low", "low"]
    np.testing.assert_array_equal(one.pixels, other.pixels)
    assert one.pixels.shape == (3, 7, 20, 1)
    assert one.shortened == 1  # of 0.25 s
    first = spectrogram(read_wave(tmp_path / "names" / "high_someone_1.wav"), 7, 20)
    np.testing.assert_array_equal(one.pixels[0, ..., 0], first)


def test_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"there are no sounds at .*none.*: a folder of wav files"):
        read_sounds(tmp_path / "none", 7, 20)
    with pytest.raises(DataError, match="has no sounds: it should have a folder for each label"):
        read_sounds(tmp_path, 7, 20)
    save_tone(tmp_path / "a_1.wav", 300)
    monkeypatch.setattr("regard.train.data.sounds.MOST_BYTES", 139)
    with pytest.raises(DataError, match="would have 140 bytes, more than 139: read fewer seconds"):
        read_sounds(tmp_path, 7, 20)
    save_tone(tmp_path / "seven.wav", 300)
    with pytest.raises(DataError, match=r"seven\.wav' has no label: put it into a folder named"):
        read_sounds(tmp_path, 7, 20)
