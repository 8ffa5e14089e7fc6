"""Backdrop: the thing that was cut into pieces, where they are drawn on the thing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from regard.errors import RegardError

BackdropKind = Literal["image", "curve", "spectrogram", "list"]
AXES = {
    "image": (3, "rows, columns and 3 colours"),
    "curve": (2, "lines and steps"),
    "spectrogram": (2, "frequencies, the lowest first, and frames"),
    "list": (2, "rows and what stands in each"),
}

if TYPE_CHECKING:  # a command that only asks for help does not load NumPy
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Backdrop:
    """An image, whose pieces are boxes; what goes on in time, whose pieces are spans; or a list,
    whose pieces are rows."""

    kind: BackdropKind
    values: NDArray[Any]
    """Of an image (rows, columns, 3) from 0 to 255; of a curve (lines, steps) and of a spectrogram
    (frequencies, frames), the lowest frequency first, float32; of a list (rows, columns), texts."""
    since: int | None = None
    """Of a curve: the step from which on it did not happen but was forecast."""

    def __post_init__(self) -> None:
        count, names = AXES[self.kind]
        if self.values.ndim != count or not self.values.size:
            raise RegardError(f"the axes of {self.kind} are {names}; got {self.values.shape}")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, in the numbers that places are counted in: pixels; steps and 1; 1 and
        rows."""
        if self.kind == "list":
            return 1, self.values.shape[0]
        if self.kind == "image":
            return self.values.shape[1], self.values.shape[0]
        return self.values.shape[1], 1
