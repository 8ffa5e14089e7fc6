"""Measures that are derived from weights: their names, and what must be said beside them."""

from __future__ import annotations

MEASURES = {
    "norm": (
        "Derived, not weights: the size of what each head brings, ‖a v W_O‖, as a share of its row "
        "(Kobayashi et al. 2020)."
    ),
    "rollout": (
        "Derived, not weights: attention rollout, the heads averaged and half of each word kept, "
        "multiplied through all layers so far (Abnar & Zuidema 2020)."
    ),
}
