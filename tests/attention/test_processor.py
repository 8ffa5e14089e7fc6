"""Processor: its first entry, by small names; nothing where the system says nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.attention.processor import processor


def test_the_first_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "cpuinfo"
    monkeypatch.setattr("regard.attention.processor.INFO", file)
    assert processor() == {}
    first = "processor\t: 0\nvendor_id\t: GenuineIntel\nFlags\t\t: fma: avx2\n"
    file.write_text(f"{first}\n{first.replace('0', '1')}")
    assert processor() == {"processor": "0", "vendor_id": "GenuineIntel", "flags": "fma: avx2"}
