"""SeriesModel: a real model of series, ready to read a table and be observed: PatchTST."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import DataError, MissingExtraError, ModelError, first_line
from regard.inside.find import ModelFiles
from regard.inside.realmodel import title_of
from regard.inside.textmodel import quiet
from regard.pieces.pieces import Pieces
from regard.pieces.series import Series, Window, window


@dataclass
class SeriesModel:
    """A model that reads series, each channel by itself, and what it is about to read."""

    name: str
    network: nn.Module
    row: int = 0
    """The channel that is looked at: the model reads each as an item of a batch."""
    past: Tensor | None = None
    """As the model reads it, (1, steps, channels)."""
    has_both = False

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def layers(self) -> int:
        config: Any = self.network.config
        return int(config.num_hidden_layers)

    def read(self, series: Series, channel: int) -> Window:
        """The last steps of ``series`` in the patches that the model reads of one channel."""
        config: Any = self.network.config
        steps, channels = config.context_length, config.num_input_channels
        if len(series.channels) != channels:
            raise DataError(
                f"{self.name!r} reads {channels} channels at once, and the table has "
                f"{len(series.channels)} ({', '.join(series.channels[:8])}): give one with as many"
            )
        start = len(series) - steps
        if start < 0:
            raise DataError(f"{self.name!r} reads {steps} steps, and the table has {len(series)}")
        past = series.values[start:]
        self.past, self.row = torch.from_numpy(past).float().unsqueeze(0), channel
        size, stride = config.patch_length, config.patch_stride
        first = (steps - size) % stride  # what is over is left out in front
        places = [(at, at + size) for at in range(first, steps - size + 1, stride)]
        front = ["[CLS]"] if config.use_cls_token else []
        return window(series, channel, (start, len(series)), places, front)

    def run(self, tokens: Pieces, target: Pieces | None = None) -> None:
        """One pass over what was read last."""
        with torch.inference_mode():
            self.network(past_values=self.past)


def load_series_model(found: ModelFiles) -> SeriesModel:
    """A folder with a PatchTST. It scales what it reads itself and needs no processor."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"the model {found.name!r}", "transformers") from error
    folder = str(found.folder)
    try:
        with quiet(transformers), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            config = transformers.AutoConfig.from_pretrained(folder)
            kind = config.model_type
            if kind == "patchtst":
                config.do_mask_input = False  # what hides patches, at random, in its training
                network = transformers.AutoModel.from_pretrained(
                    folder, config=config, dtype=torch.float32, use_safetensors=True
                ).eval()
    except (ImportError, OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
        raise ModelError(
            f"{found.name!r} is no model of series that transformers can load without running "
            f"code of its own: {first_line(error)}"
        ) from error
    if kind != "patchtst":
        raise ModelError(
            f"{found.name!r} is of the type {kind}, and regard does not know where its pieces "
            "stand in a series: --series takes PatchTST (regard's own forecasters: 'regard read')"
        )
    if config.channel_attention:
        raise ModelError(
            f"{found.name!r} lets channels attend to each other at one time, and regard has no "
            "place in a curve for that"
        )
    return SeriesModel(found.name, network)
