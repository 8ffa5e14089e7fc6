"""Fit: parts that do not fit together are named."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import ExampleError
from regard.worked.fit import check_fit, keys_of, queries_of
from regard.worked.parts import Parts


def test_how_many_queries_and_keys_there_are() -> None:
    given = {"scores": np.ones((2, 7))}
    assert (queries_of("scaled", given), keys_of("scaled", given)) == (2, 7)
    assert (queries_of("scaled", {}), keys_of("scaled", {})) == (0, 0)


@pytest.mark.parametrize(
    ("mechanism", "shapes", "said"),
    [
        ("simple", {"x": (3, 2), "w_q": (2, 2)}, "simple self-attention has no weight matrices"),
        ("dot", {"x": (3, 2), "v_a": (2,)}, "mechanism 'dot' has no v_a; it takes"),
        ("scaled", {"x": (3, 2)}, "mechanism 'scaled' needs w_q, w_k and, for the values, w_v"),
    ],
)
def test_what_does_not_fit(mechanism: str, shapes: dict[str, tuple[int, ...]], said: str) -> None:
    given = {name: np.ones(shape) for name, shape in shapes.items()}
    with pytest.raises(ExampleError, match=said):
        check_fit(Parts(mechanism, ["a", "b", "c"], given))
