"""The real model, ready to explain."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.inside.explain.model import Model


@pytest.fixture(scope="module")
def real(minilm: Path) -> Model:
    return Model("minilm")
