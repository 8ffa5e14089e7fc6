"""Consequence: what a step would be if the numbers claimed for the steps before it were true.

A number that is wrong but equals its consequence is right arithmetic on a wrong number.
"""

from __future__ import annotations

import numpy as np

from regard.trace import Array, Trace
from regard.worked.claims import Claim
from regard.worked.example import Example


class Consequences:
    """The steps of an example, recomputed from what is claimed."""

    def __init__(self, example: Example, trace: Trace, claims: dict[str, Claim]) -> None:
        self.example = example
        self.trace = trace
        self.claims = claims

    def given(self, step: str) -> Array:
        """The step as claimed, and as it follows from earlier claims where it is not claimed."""
        value = self.of(step)
        if value is None:
            value = self.trace.value(step).astype(np.float64)
        if step in self.claims:
            value = np.where(self.claims[step].made, self.claims[step].value, value)
        return value

    def of(self, step: str) -> Array | None:
        """The step recomputed from the ones before it; None for those that come first."""
        if step == "scores":
            return self.given("queries") @ np.swapaxes(self.given("keys"), -1, -2)
        if step == "scaled":
            scaled: Array = self.given("scores") / np.sqrt(
                self.example.d_k or self.example.width_of_keys
            )
            return scaled
        if step == "weights":
            return self._weights()
        if step == "weighted_values":
            products: Array = (
                self.given("weights")[..., None] * self.given("values")[..., None, :, :]
            )
            return products
        if step == "context":
            total: Array = self.given("weighted_values").sum(-2)
            return total
        if step == "concatenated":
            heads = np.swapaxes(self.given("context"), 0, 1)
            return heads.reshape(len(heads), -1)
        if step == "output":
            w = self.example.matrices["w_o"]
            joined = self.given("concatenated" if "concatenated" in self.trace else "context")
            return joined @ (w.T if self.example.layout == "rows-are-outputs" else w)
        return None

    def _weights(self) -> Array:
        scores = self.given("scaled" if "scaled" in self.trace else "scores")
        allowed = np.broadcast_to(True, scores.shape)
        if "mask" in self.trace:
            allowed = np.broadcast_to(self.trace.value("mask"), scores.shape)
        # A row in which nothing is allowed would be 0 / 0: its weights are 0.
        highest = np.where(allowed, scores, -np.inf).max(-1, keepdims=True)
        highest = np.where(np.isfinite(highest), highest, 0)
        raised = np.where(allowed, np.exp(np.where(allowed, scores - highest, 0)), 0)
        weights: Array = raised / np.maximum(raised.sum(-1, keepdims=True), np.finfo(float).tiny)
        return weights
