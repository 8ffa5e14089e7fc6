"""What the page asks of a look, packed as the page reads it."""

from __future__ import annotations

import numpy as np
import pytest

from regard.inside.look import exploration
from regard.inside.look.exploration import Exploration
from regard.inside.textmodel import load
from regard.web import parts
from tests.models.bert.tinybert import save_tiny


@pytest.fixture(scope="module")
def look(tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny(folder)
    model = load(str(folder))
    made = Exploration(model, model.read("the cat sat"), None, "the cat sat")
    made.run(lambda: None)
    return made


def test_a_short_text_is_whole_and_a_long_one_remote(
    look: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    layers = parts.whole(look)["document"]["subjects"][0]["layers"]
    assert [(layer["shape"], layer["remote"]) for layer in layers] == [([5, 5], False)] * 3
    monkeypatch.setattr(exploration, "WHOLE", 10)
    layers = parts.whole(look)["document"]["subjects"][0]["layers"]
    assert [(layer["shape"], layer["remote"]) for layer in layers] == [([5, 5], True)] * 3


def test_heads_and_one_head(look: Exploration) -> None:
    layer = parts.heads(look, 1)
    assert len(layer["heads"]) == 5
    assert layer["arrays"][0]["shape"] == [5, 5, 5]
    assert layer["heads"][2]["entropy"] == pytest.approx(
        float(look.map(1, 2).entropy().mean()), abs=1e-5
    )
    head = parts.head(look, 1, 2)
    carried = {name: place for name, place in head["parts"].items() if place is not None}
    assert set(carried) == {"query", "key", "value"}
    assert head["arrays"][carried["query"]]["shape"][:2] == [1, 5]


def test_rows_links_and_tiles_are_the_weights(look: Exploration) -> None:
    weights = look.map(2, 1).dense().numpy()
    assert parts.row(look, 2, 1, 3)["weights"] == pytest.approx(weights[3].tolist())
    link = parts.link(look, 3, 1)
    assert (link["query"], link["key"]) == (3, 1)
    assert link["layers"][2][1] == pytest.approx(float(weights[3, 1]))
    tile = np.frombuffer(parts.tile(look, 2, 1, 0, 0, 0), "<f4").reshape(5, 5)
    np.testing.assert_allclose(tile, weights, atol=1e-6)
