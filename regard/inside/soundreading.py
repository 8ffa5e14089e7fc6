"""A sound read by a classifier that was trained on sounds: its label, and when it decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.models.spectrogram import STEP, spectrogram
from regard.pieces.pieces import Pieces
from regard.pieces.sound import spans
from regard.pieces.wave import read_wave
from regard.record import record
from regard.store.folder import load_image_classifier
from regard.store.shipped import find_folder
from regard.trace import Trace


@dataclass(frozen=True)
class SoundVerdict:
    """What a classifier says of a sound."""

    labels: list[str]
    """The likeliest first,"""
    probabilities: list[float]
    pieces: Pieces | None
    """The spans of time that it read; None if it reads none (conv)."""
    weights: NDArray[np.float32]
    """How much of each span is in what it decided from."""
    trace: Trace
    """What the model did, step by step; empty unless it was asked for."""
    seconds: float
    """How long the sound is,"""
    read: float
    """and how much the model reads, filled up with silence."""

    @property
    def silent(self) -> float:
        """The share of the weights of spans that begin after the sound has ended."""
        padding = self.pieces.padding if self.pieces else []
        pairs = zip(padding, self.weights, strict=True)
        return sum(float(weight) for gone, weight in pairs if gone)


@torch.no_grad()
def judge_sound(model: str, file: str, *, traced: bool = False) -> SoundVerdict:
    """Read the wav ``file`` with a classifier of sounds; ``traced`` keeps every step of it."""
    classifier = load_image_classifier(find_folder(model), "sounds")
    config = classifier.config
    wave = read_wave(file)
    image = spectrogram(wave, config.rows, config.columns)
    until = wave.seconds / STEP
    pieces = spans(image, config.patch, STEP, until=until) if config.patch else None
    labels = pieces.labels if pieces else []
    with record(config.model, labels, only=None if traced else ()) as trace:
        logits, weights = classifier(torch.from_numpy(image)[None, None].float() / 255)
    shares = logits[0].softmax(-1)
    order = shares.argsort(descending=True).tolist()
    return SoundVerdict(
        [config.labels[i] for i in order],
        shares[order].tolist(),
        pieces,
        weights[0].numpy(),
        trace,
        wave.seconds,
        config.columns * STEP,
    )
