"""Measures that are derived from weights: their names, and what must be said beside them."""

from __future__ import annotations

MEASURES = {
    "norm": (
        "Derived, not weights: the size of what each head brings, ‖a v W_O‖, as a share of its row "
        "(Kobayashi et al. 2020)."
    ),
    "rollout": (
        "Derived, not weights: attention rollout, the heads averaged and half of each {piece} "
        "kept, multiplied through all layers so far (Abnar & Zuidema 2020)."
    ),
    "flow": (
        "Derived, not weights: attention flow, the most that could stream from {piece} to {piece} "
        "through all layers so far, as a share of its row (Abnar & Zuidema 2020)."
    ),
    "value-zeroing": (
        "Derived, not weights: value zeroing, how much what a layer hands on of a {piece} "
        "changes without another {piece}'s value, as a share of its row (Mohebbi et al. 2023)."
    ),
    "gradient": (
        "Derived, not weights: gradient times attention, |a ∂y/∂a|, as a share of its row; rows "
        "on which y does not depend are 0 (Serrano & Smith 2019)."
    ),
}


def told(measure: str, noun: str = "token") -> str:
    """What must be said beside it, of pieces that are called ``noun``; tokens stand for words."""
    return MEASURES[measure].format(piece="word" if noun == "token" else noun)


SHORT = {"norm": "norm", "flow": "flow", "gradient": "grad·a", "value-zeroing": "zeroing"}
"""Where a column has room for six or seven signs."""


def column(measure: str) -> str:
    """What a column of its numbers is headed by: of no measure they are weights."""
    return SHORT.get(measure, measure) or "weight"
