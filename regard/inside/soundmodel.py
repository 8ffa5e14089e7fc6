"""SoundModel: a real model of sounds with its processor, ready to hear a sound and be observed."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.errors import DataError, MissingExtraError, ModelError, first_line
from regard.inside.find import ModelFiles
from regard.inside.realmodel import title_of
from regard.inside.textmodel import name_of, quiet
from regard.models.spectrogram import STEP, spectrogram
from regard.pieces.pieces import Pieces
from regard.pieces.sound import spans
from regard.pieces.text import check_length, check_tokenizer, load_tokenizer, read_text
from regard.pieces.wave import Wave, read_wave

BANDS = 64
"""Of the spectrogram that is drawn where a model reads samples."""
MOST_SECONDS = 300
"""Of a sound: its pieces attend to each other, 50 or so a second."""
MOST_WRITTEN = 200
"""Tokens that a model writes of what it hears if no target text is given."""
KNOWN = "Whisper, Wav2Vec2, HuBERT, WavLM and others that read samples in steps"


@dataclass
class SoundModel:
    """A model that reads sounds, and the sound that it is about to read."""

    name: str
    network: nn.Module
    processor: Any
    """Of transformers: how the model wants its sounds."""
    folder: Path
    row = 0
    heard: Tensor | None = None
    """As the model reads it: (1, samples), or (1, bands, frames)."""
    seconds: float = 0.0
    """How long the sound is,"""
    step: float = 0.0
    """how long a piece of it,"""
    until: int | None = None
    """and at which step of what is drawn it ends, where the model reads on."""

    @property
    def title(self) -> str:
        return title_of(self.name)

    @property
    def has_both(self) -> bool:
        """Whether it has a decoder, which writes what the encoder heard."""
        config: Any = self.network.config
        return bool(config.is_encoder_decoder)

    @property
    def layers(self) -> int:
        config: Any = self.network.config
        return int(config.num_hidden_layers)

    def read(self, file: str) -> Pieces:
        """The sound of ``file`` in the spans of time that the model reads."""
        wave = read_wave(file)
        if wave.seconds > MOST_SECONDS:
            raise DataError(
                f"{file!r} has {wave.seconds:,.0f} s of sound, more than {MOST_SECONDS}: give a "
                "part of it"
            )
        rate = int(self.processor.sampling_rate)
        if wave.rate != rate:
            warnings.warn(
                f"{file!r} has {wave.rate:,} samples a second and the model wants {rate:,}: they "
                "were computed from it",
                stacklevel=2,
            )
        wave = wave.at_rate(rate)
        made = self.processor(wave.samples, sampling_rate=rate, return_tensors="pt")
        self.heard, self.seconds = made[self.processor.model_input_names[0]], wave.seconds
        return self._samples(wave) if self.heard.ndim == 2 else self._frames(wave)

    def _samples(self, wave: Wave) -> Pieces:
        """Steps of samples, as its convolutions stride over them."""
        network: Any = self.network
        assert self.heard is not None
        count = int(network._get_feat_extract_output_lengths(self.heard.shape[1]))
        if count < 1:
            raise DataError(
                f"the sound has {wave.seconds:.3f} s, less than one piece of {self.name!r}: give a "
                "longer one"
            )
        self.step, self.until = math.prod(network.config.conv_stride) / wave.rate, None
        frames = max(1, math.ceil(wave.seconds / STEP))
        return spans(spectrogram(wave, BANDS, frames), self.step / STEP, STEP, count)

    def _frames(self, wave: Wave) -> Pieces:
        """Two frames of the processor's spectrogram a piece, up to the length that it fills."""
        assert self.heard is not None
        step = self.processor.hop_length / self.processor.sampling_rate
        seconds = self.heard.shape[2] * step
        if wave.seconds > seconds:
            warnings.warn(
                f"{self.title} reads {seconds:.2f} s of {wave.seconds:.2f}: not the rest",
                stacklevel=3,
            )
        self.step, self.until = 2 * step, max(1, math.ceil(min(wave.seconds, seconds) / step))
        return spans(self.heard[0].numpy(), 2, step, until=self.until)

    def target(self, text: str | None) -> Pieces:
        """What the decoder reads: ``text``, or what the model itself writes of what it heard."""
        check_tokenizer(self.folder, None)
        tokenizer = load_tokenizer(self.folder)
        read = read_text(tokenizer, self._written(tokenizer) if text is None else text)
        config: Any = self.network.config
        start = config.decoder_start_token_id
        if read.ids and read.ids[-1] == config.eos_token_id:
            read = read.without_last()
        if not read.ids or read.ids[0] != start:
            read = read.after(name_of(tokenizer, start), start)
        check_length(read, self.name, config.max_target_positions)
        return read

    def _written(self, tokenizer: Any) -> str:
        network: Any = self.network
        most = min(MOST_WRITTEN, network.config.max_target_positions // 2)
        import transformers

        with torch.inference_mode(), quiet(transformers), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out = network.generate(self.heard, max_new_tokens=most, num_beams=1, do_sample=False)
        text: str = tokenizer.decode(out[0].tolist(), skip_special_tokens=True)
        if not text.strip():
            raise DataError(f"{self.name!r} wrote nothing of this sound: give --target TEXT")
        return text

    def run(self, tokens: Pieces, target: Pieces | None = None) -> None:
        """One pass over the sound that was read last, of the encoder alone without a target."""
        network: Any = self.network
        with torch.inference_mode():
            if self.has_both and target is None:
                network.get_encoder()(self.heard)
            elif target is None:
                network(self.heard)
            else:
                ids = torch.tensor([target.ids])
                network(self.heard, decoder_input_ids=ids, use_cache=False)


def load_sound_model(found: ModelFiles) -> SoundModel:
    """A folder with a model of sounds and its processor (preprocessor_config.json)."""
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"the model {found.name!r}", "transformers") from error
    if not (found.folder / "preprocessor_config.json").is_file():
        raise ModelError(
            f"{found.name!r} has no preprocessor_config.json, which says how the model wants its "
            f"sounds; --sound is for models of sounds ({KNOWN})"
        )
    folder = str(found.folder)
    try:
        with quiet(transformers), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            extractor: Any = transformers.AutoFeatureExtractor
            processor = extractor.from_pretrained(folder)
            config = transformers.AutoConfig.from_pretrained(folder)
            both = config.is_encoder_decoder
            make: Any = transformers.AutoModelForSpeechSeq2Seq if both else transformers.AutoModel
            network = make.from_pretrained(folder, dtype=torch.float32, use_safetensors=True).eval()
    except (ImportError, OSError, ValueError, KeyError, RuntimeError, AttributeError) as error:
        raise ModelError(
            f"{found.name!r} is no model of sounds that transformers can load without running "
            f"code of its own: {first_line(error)}"
        ) from error
    if config.model_type != "whisper" and (both or not hasattr(config, "conv_stride")):
        raise ModelError(
            f"{found.name!r} is of the type {config.model_type}, and regard does not know where "
            f"its pieces stand in a sound: --sound takes {KNOWN}"
        )
    return SoundModel(found.name, network, processor, found.folder)
