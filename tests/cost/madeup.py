"""Costs that were never measured: numbers that a test can know."""

from regard.cost.mechanisms import MECHANISMS
from regard.cost.result import Cost, Costs
from regard.cost.setting import Setting

LENGTHS = (100, 200, 400, 800)


def made_up(lengths: tuple[int, ...] = LENGTHS, bend: float = 0.0) -> Costs:
    """Costs that follow the formulas exactly, or are off by ``bend`` in the exponent."""
    costs = (
        Cost(
            m,
            lengths,
            tuple(1e-6 * n ** (m.time_power + bend) for n in lengths),
            tuple(round(4 * n ** (m.memory_power - bend)) for n in lengths),
        )
        for m in MECHANISMS
    )
    return Costs(Setting(), lengths, 5, 1, tuple(costs))
