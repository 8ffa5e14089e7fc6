from __future__ import annotations

import torch

from regard import record
from regard.models.translators.maxout import Maxout


def test_a_maxout_computed_by_hand() -> None:
    """t~ = [1, −2, 3] · 2 + [4, 5, …]: the larger of each pair (j, j + units)."""
    made = Maxout((1, 1), 2)
    one, other = (part for part in made.parts if isinstance(part, torch.nn.Linear))
    with torch.no_grad():
        one.weight.copy_(torch.tensor([[1.0], [-2.0], [3.0], [-4.0]]))
        one.bias.copy_(torch.tensor([0.0, 0.0, 0.0, 1.0]))
        other.weight.copy_(torch.tensor([[5.0], [0.0], [0.0], [0.0]]))
    # t~ = [2 + 5·1, −4, 6, −8 + 1] = [7, −4, 6, −7]
    assert made(torch.tensor([[2.0]]), torch.tensor([[1.0]])).tolist() == [[7.0, -4.0]]


def test_record_shows_the_readout() -> None:
    with record() as trace:
        Maxout((3,), 5)(torch.ones(2, 3))
    assert trace["readout"].axes == ("position", "width")
