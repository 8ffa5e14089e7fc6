"""Baselines: how a series goes on without any network, to be named beside every forecaster."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError

Windows = NDArray[np.float64]
"""(B, steps) of one channel each."""
RIDGE = 1e-4
"""What is added to the squares, as a share of their mean: windows may be fewer than their steps."""
DIGITS = 6


@dataclass(frozen=True)
class Baselines:
    """The last value again, the last season again, and the best linear map of a window.

    last      y_k = x_n
    season    y_k = the value a whole number of seasons before
    linear    y_k = x_n + sum_j w_jk (x_j − x_n)      NLinear of Zeng et al. (2023)
    """

    season: int
    linear: NDArray[np.float64]
    """w (context, horizon), of least squares over the training part."""

    def say(self, past: Windows) -> dict[str, Windows]:
        """The forecasts (B, horizon) of windows (B, context), by name."""
        context, horizon = self.linear.shape
        last = past[:, -1:]
        said = {"last": np.repeat(last, horizon, 1)}
        if 1 < self.season <= context:
            said["season"] = past[:, context - self.season + np.arange(horizon) % self.season]
        return said | {"linear": last + (past - last) @ self.linear}

    def to_text(self) -> str:
        rows = [[float(f"{w:.{DIGITS}g}") for w in row] for row in self.linear]
        return json.dumps({"season": self.season, "linear": rows}) + "\n"

    @classmethod
    def from_text(cls, text: str, name: str) -> Baselines:
        """What :meth:`to_text` gave; ``name`` is the file's, for errors."""
        try:
            content = json.loads(text)
            found = cls(int(content["season"]), np.array(content["linear"], np.float64))
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(f"{name} is no file of baselines: {error!r}") from error
        if found.linear.ndim != 2 or found.season < 1:
            raise FileError(f"{name} is no file of baselines: it must have a season and a matrix")
        return found


def fit_linear(windows: Iterable[tuple[Windows, Windows]]) -> NDArray[np.float64]:
    """w (context, horizon) of least squares over pairs of past (B, context) and future."""
    squares: NDArray[np.float64] | None = None
    products: NDArray[np.float64] | None = None
    for past, future in windows:
        last = past[:, -1:]
        x, y = past - last, future - last
        squares = x.T @ x + (0 if squares is None else squares)
        products = x.T @ y + (0 if products is None else products)
    assert squares is not None, "there is at least one window"
    assert products is not None
    ridge = RIDGE * float(np.trace(squares)) / len(squares) or 1.0
    found = np.linalg.solve(squares + ridge * np.eye(len(squares)), products)
    return found.astype(np.float64)
