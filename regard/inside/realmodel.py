"""RealModel: what a look needs of a model, whatever it reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from torch import nn

from regard.pieces.pieces import Pieces


class RealModel(Protocol):
    """A model that reads pieces: TextModel, ImageModel, SoundModel, SeriesModel, OcrModel."""

    @property
    def name(self) -> str: ...

    @property
    def network(self) -> nn.Module: ...

    @property
    def title(self) -> str: ...

    @property
    def has_both(self) -> bool: ...

    @property
    def layers(self) -> int: ...

    @property
    def row(self) -> int:
        """The item of the batch that is looked at: of a series the channel, else the first."""
        ...

    def run(self, tokens: Pieces, target: Pieces | None = None) -> None: ...


def title_of(name: str) -> str:
    """A model's name where others will read it: of a folder or file the last part, no path."""
    return Path(name).resolve().name if os.path.exists(name) else name
