"""What a model puts out, by its kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import DataError
from regard.inside.prediction import kind_of, label_of, predictions, row_of, scores_of
from tests.inside.explain import wholes


def test_the_kinds_of_models(tmp_path: Path) -> None:
    masked, labelled = wholes.masked(tmp_path / "m"), wholes.labelled(tmp_path / "l")
    kinds = [kind_of(m) for m in (masked, labelled, wholes.own_language("pre"))]
    assert kinds == ["word in the blank", "label", "next word"]
    blank = masked.read("the [MASK] street")
    assert blank.labels[row_of(masked, kinds[0], blank)] == "[MASK]"
    with pytest.raises(DataError, match="put \\[MASK\\] where a word is missing"):
        row_of(masked, kinds[0], masked.read("the street"))
    assert label_of(labelled, 1) == "glad"
    tokens = labelled.read("the street")
    scores = scores_of("label", labelled.run(tokens), 0)
    assert scores is not None
    found = predictions(labelled, "label", scores, 0.5, 2)
    raised = np.exp(2 * scores)
    assert found[0].probability == pytest.approx(float(raised.max() / raised.sum()))
    assert {one.word for one in found} == {"sad", "glad"}
