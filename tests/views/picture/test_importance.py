"""The importance of all heads, drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.views.picture.importance import draw_importance, save_importance
from tests.pieces.test_importance import made

pytest.importorskip("matplotlib")


def test_a_square_for_each_head(tmp_path: Path) -> None:
    image = draw_importance(made()).axes[0].images[0].get_array()
    assert np.allclose(image.filled(np.nan), [[0.1, 0.3], [0.05, np.nan]], equal_nan=True)
    save_importance(made(), tmp_path / "heads.svg", "svg")
    assert "3 texts" in (tmp_path / "heads.svg").read_text()
