"""The real model, ready to explain."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.inside.explain.computed import ComputedModel


@pytest.fixture(scope="module")
def real(minilm: Path) -> ComputedModel:
    return ComputedModel("minilm")
