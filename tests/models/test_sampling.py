"""Drawing tokens: shares computed by hand, and what chance decides."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError
from regard.models.sampling import Sampling

SHARES = torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log()
"""By their probability: tokens 1, 3, 2, 0, which end at .5, .75, .9 and 1."""


def drawn(chance: float, **how: float) -> int:
    return int(Sampling(**how).draw(SHARES, torch.tensor([chance])))  # type: ignore[arg-type]


def test_a_token_is_as_wide_as_its_probability() -> None:
    chances = (0.0, 0.499, 0.501, 0.749, 0.751, 0.899, 0.901, 0.999)
    assert [drawn(c) for c in chances] == [1, 1, 3, 3, 2, 2, 0, 0]


def test_top_p_keeps_the_token_that_reaches_it() -> None:
    # .5 alone does not reach .6; with .25 it does: shares 2/3 and 1/3.
    assert [drawn(c, top_p=0.6) for c in (0.0, 0.66, 0.67, 0.999)] == [1, 1, 3, 3]
    assert [drawn(c, top_p=0.4) for c in (0.0, 0.999)] == [1, 1]


def test_next_to_no_temperature_draws_the_likeliest() -> None:
    """Scores divided by it are more than a number can hold."""
    logits, chance = torch.tensor([[7.0, 9.0, -math.inf]]), torch.tensor([0.999])
    for temperature in (1e-300, 1e-310, 5e-324):
        assert int(Sampling(temperature).draw(logits, chance)) == 1


def test_temperature_by_hand() -> None:
    # At one half, shares are squared: .25, .0625, .0225, .01 of .345.
    edges = np.cumsum([0.25, 0.0625, 0.0225, 0.01]) / 0.345
    for edge, before, after in zip(edges, (1, 3, 2), (3, 2, 0), strict=False):
        assert drawn(edge - 1e-4, temperature=0.5) == before
        assert drawn(edge + 1e-4, temperature=0.5) == after


@given(
    st.lists(st.floats(-30, 30), min_size=2, max_size=9),
    st.floats(0, 1, exclude_max=True),
    st.floats(0.01, 1),
    st.floats(0.05, 5),
)
def test_what_is_drawn_may_be_drawn(
    logits: list[float], chance: float, top_p: float, temperature: float
) -> None:
    row = torch.tensor([[*logits, -math.inf]], dtype=torch.float64)
    token = int(Sampling(temperature, top_p).draw(row, torch.tensor([chance]))[0])
    p = (row / temperature).softmax(-1)[0]
    likelier = float(p[p > p[token]].sum())
    assert p[token] > 0
    assert likelier < top_p + 1e-9, "all that is likelier does not reach top_p without it"


def test_chance_hangs_on_seed_text_and_sample_alone() -> None:
    some = [c.random() for c in Sampling(seed=4).chances([7, 2], 3)]
    assert some[3:] == [c.random() for c in Sampling(seed=4).chances([2], 3)]
    assert len({*some, *(c.random() for c in Sampling(seed=5).chances([7, 2], 3))}) == 12


def test_settings_that_draw_nothing_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        Sampling(temperature=0.0, top_p=1.5, seed=-1)
    assert str(caught.value) == (
        "temperature must be greater than 0, got 0.0 (the likeliest token at each step is what is "
        "found without sampling); top_p must be greater than 0 and at most 1, got 1.5; "
        "seed must be 0 or more, got -1"
    )
