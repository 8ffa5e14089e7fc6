"""A small text to learn vectors from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vectors.written import TEXT


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path
