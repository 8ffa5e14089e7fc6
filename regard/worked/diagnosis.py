"""Diagnosis: which slip made a wrong number, if one is likely enough to have made it.

A slip is named only if it gives the claimed numbers to the digits that were written, and if that
many digits would hardly agree by chance: a number with two digits agrees with one of ten slips
every tenth time, a whole row with four digits never does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from regard.trace import Array
from regard.worked.claims import EXACT, Claim
from regard.worked.slips import Slip

CHANCE = 0.02
"""A slip that fits by chance oftener than this is not named."""

Index = tuple[int, ...]


def diagnose(
    claim: Claim, correct: Array, wrong: Sequence[Index], tried: Sequence[Slip]
) -> dict[Index, Slip]:
    """The slip that made each of the ``wrong`` numbers, where there is one."""
    found: dict[Index, Slip] = {}
    tried = [slip for slip in tried if slip.value.shape == correct.shape]
    for group in _groups(wrong):
        left = [index for index in group if index not in found]
        if not left:
            continue
        rivals = max(_rivals(claim, correct, index, tried) for index in left)
        chance = rivals * np.prod([_chance(claim, correct, index) for index in left])
        if chance > CHANCE:
            continue
        fitting = [slip for slip in tried if all(_gives(slip, claim, index) for index in left)]
        if fitting:  # of several, the one that gives most of what is claimed, right numbers too
            best = max(fitting, key=lambda slip: _agreement(slip, claim))
            found.update(dict.fromkeys(left, best))
    return found


def rounded_too_far(claim: Claim, correct: Array, index: Index) -> bool:
    """Whether the claim is what is left of the right number without its digits: 0.0 for 0.063."""
    claimed, true, unit = claim.value[index], correct[index], claim.unit[index]
    nothing_left = claimed == 0 and 0 < abs(true) < unit
    whole = claim.tolerance[index] <= EXACT and abs(claimed) == 1 and abs(claimed - true) <= 0.5
    return bool(nothing_left or whole)


def _groups(wrong: Sequence[Index]) -> Iterator[list[Index]]:
    """All wrong numbers together, then row by row, then each."""
    yield list(wrong)
    for row in dict.fromkeys(index[:-1] for index in wrong):
        yield [index for index in wrong if index[:-1] == row]
    for index in wrong:
        yield [index]


def _gives(slip: Slip, claim: Claim, index: Index) -> bool:
    return bool(abs(slip.value[index] - claim.value[index]) <= claim.tolerance[index])


def _agreement(slip: Slip, claim: Claim) -> int:
    return int((np.abs(slip.value - claim.value) <= claim.tolerance).sum())


def _chance(claim: Claim, correct: Array, index: Index) -> float:
    """How likely a wrong number so far off agrees with a given one to its last written digit."""
    off = abs(claim.value[index] - correct[index])
    return float(min(1.0, claim.unit[index] / off)) if off > 0 else 1.0


def _rivals(claim: Claim, correct: Array, index: Index, tried: Sequence[Slip]) -> int:
    """How many different wrong numbers the slips give here."""
    unit = claim.unit[index]
    values = np.array([slip.value[index] for slip in tried])
    apart = values[np.isfinite(values) & (np.abs(values - correct[index]) > unit / 2)]
    return max(1, len(np.unique(np.round(apart / unit))))
