"""What a page asks of a text piece by piece, against eager attention."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import RegardError
from regard.inside.look import exploration
from regard.inside.look.exploration import Exploration
from regard.inside.textmodel import TextModel
from tests.inside.tinytext import STORY


@pytest.fixture(scope="module")
def explored(llama: tuple[TextModel, Any]) -> Exploration:
    model, _ = llama
    made = Exploration(model, model.read(STORY), None, STORY)
    made.run(lambda: None)
    return made


@pytest.fixture(scope="module")
def theirs(llama: tuple[TextModel, Any], explored: Exploration) -> torch.Tensor:
    ids = torch.tensor([explored.tokens.ids])
    with torch.no_grad():
        found = llama[1](input_ids=ids, output_attentions=True).attentions
    return torch.stack([layer[0] for layer in found])


def test_tiles_rows_and_links(explored: Exploration, theirs: torch.Tensor) -> None:
    n = len(explored.tokens)
    np.testing.assert_allclose(explored.tile(1, 2, 0, 0, 0), theirs[1, 2], atol=1e-5)
    quarter = explored.tile(1, 2, 2, 0, 0)
    assert quarter.shape == (-(-n // 4), -(-n // 4))
    assert quarter[3, 1] == pytest.approx(float(theirs[1, 2, 12:16, 4:8].max()), abs=1e-5)
    links = explored.link(9, 4)
    np.testing.assert_allclose(np.array(links), theirs[:, :, 9, 4], atol=1e-5)
    with pytest.raises(RegardError, match=f"no layer has a token {n} that could attend"):
        explored.link(n, 0)
    assert explored.map(1, 2) is explored.map(1, 2)


def test_the_heads_of_a_layer(explored: Exploration, theirs: torch.Tensor) -> None:
    found = explored.heads(0)
    entropy = torch.special.entr(theirs[0]).sum(-1).mean(-1)
    assert found.entropy == pytest.approx(entropy.tolist(), abs=1e-4)
    assert found.most == pytest.approx(theirs[0].flatten(1).amax(-1).tolist(), abs=1e-5)
    assert found.pictures.shape[0] == len(found.kinds) == 4
    assert explored.heads(0) is found


def test_the_vectors_of_one_head(explored: Exploration) -> None:
    sheet = explored.head(1, 3)
    item = explored.observation.layers[1].item()
    assert item.key.shape[0] == 2, "two query heads share a key"
    np.testing.assert_array_equal(sheet.query, item.query[3:4])
    np.testing.assert_array_equal(sheet.key, item.key[1:2])
    np.testing.assert_array_equal(sheet.value, item.value[1:2])  # type: ignore[index]
    assert sheet.causal


def test_a_long_text_comes_without_its_vectors(
    explored: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = len(explored.tokens)
    whole, shapes = explored.subject()
    assert whole.numbers > 0
    monkeypatch.setattr(exploration, "WHOLE", 10)
    empty, same = explored.subject()
    assert empty.numbers == 0
    assert shapes == same == [(n, n), (n, n)]
    assert whole.title == " ".join(STORY[:200].split())


def test_a_check_that_raises_ends_the_pass(llama: tuple[TextModel, Any]) -> None:
    model, _ = llama
    made = Exploration(model, model.read("The street"), None, "The street")
    assert made.megabytes == 0
    with pytest.raises(ZeroDivisionError):
        made.run(lambda: 1 // 0)  # type: ignore[arg-type]
    assert len(made.observation) == 0
    made.run(lambda: None)
    assert len(made.observation) == 2, "no hook is left behind"


def test_what_is_not_there(explored: Exploration) -> None:
    with pytest.raises(RegardError, match="layers are counted from 0: there are 2, got 2"):
        explored.layer(2)
    with pytest.raises(RegardError, match="there is no tile 9, 0 of level 1"):
        explored.tile(0, 0, 1, 9, 0)
