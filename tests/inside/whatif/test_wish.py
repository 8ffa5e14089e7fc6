"""What the page wishes: read from JSON, and done by hands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.errors import RegardError
from regard.inside.whatif.wish import Wish
from tests.inside.explain import wholes


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "masked",
        {"masked": [-1]},
        {"masked": [1.5]},
        {"masked": [True]},
        {"cut": [[1, 2]]},
        {"cut": [[1, 2, 3, "x"]]},
        {"removed": [[1]]},
        {"factor": -1},
        {"factor": float("nan")},
        {"factor": "2"},
        {"temperature": 0},
        {"masks": [1]},
    ],
)
def test_what_is_not_of_its_form_is_refused(wrong: Any) -> None:
    with pytest.raises(RegardError, match="a what-if is"):
        Wish.from_dict(wrong)
    assert not Wish.from_dict({}).reaches_in


def test_each_wish_is_the_same_as_by_hand(tmp_path: Path) -> None:
    model = wholes.causal(tmp_path)
    tokens = model.read("The animal was tired")
    with regard.observe(model.network) as seen:
        model.run(tokens)

    def scores(wish: dict[str, Any] | None = None, **hands: Any) -> torch.Tensor:
        with regard.intervene(model.network) as own:
            if wish is not None:
                Wish.from_dict(wish).apply(own, seen.layers, both=False)
            for verb, given in hands.items():
                getattr(own, verb)(**given)
            found: torch.Tensor = model.run(tokens).logits
            return found

    unchanged = scores()
    for wish, hands in (
        ({"masked": [1]}, {"mask": {"key": [1]}}),
        ({"cut": [[3, 1, 0, None]]}, {"mask": {"query": 3, "key": 1}}),
        ({"cut": [[3, 1, 1, 2]]}, {"mask": {"layer": 1, "head": 2, "query": 3, "key": 1}}),
        ({"removed": [[1, 3]]}, {"remove": {"layer": 1, "head": 3}}),
        ({"factor": 2}, {"sharpen": {"by": 2}}),
    ):
        changed = scores(wish)
        assert torch.equal(changed, scores(**hands)), wish
        assert not torch.equal(changed, unchanged), wish
    with pytest.raises(RegardError, match="layers are counted from 0: there are 2, got 7"):
        scores({"removed": [[7, 0]]})
