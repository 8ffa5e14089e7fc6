"""Wave: the samples of a wav file, read by its own few lines: whole and decimal numbers alike."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import IO

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.files import name_of

MOST_BYTES = 256 << 20
"""Of the samples of a file: more is refused before it is read."""
RATES = (8_000, 384_000)
"""The least and the most samples a second."""
MOST_CHANNELS = 64
WHOLE, DECIMAL, EXTENSIBLE = 1, 3, 0xFFFE
"""Codes of a wav file's format; the third says that the real one stands further on."""
KINDS = {(WHOLE, 8), (WHOLE, 16), (WHOLE, 24), (WHOLE, 32), (DECIMAL, 32), (DECIMAL, 64)}
"""The formats that are read, and the bits of a sample."""


@dataclass(frozen=True)
class Wave:
    """A sound as numbers."""

    samples: NDArray[np.float32]
    """From -1 to 1, the mean of the channels; of decimal numbers as the file has them."""
    rate: int
    """Samples a second."""

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    def at_rate(self, rate: int) -> Wave:
        """The same sound with ``rate`` samples a second: its frequencies up to half of the lower
        rate, by one Fourier transform over all of it."""
        if rate == self.rate:
            return self
        count = max(1, round(len(self.samples) * rate / self.rate))
        found = np.fft.irfft(np.fft.rfft(self.samples)[: count // 2 + 1], count)
        return Wave((found * (count / len(self.samples))).astype(np.float32), rate)


@dataclass(frozen=True)
class _Format:
    """What the ``fmt`` part of a file says."""

    code: int
    channels: int
    rate: int
    bits: int

    @property
    def step(self) -> int:
        """Bytes of one sample of all channels."""
        return self.channels * self.bits // 8


def read_wave(path: str | os.PathLike[str]) -> Wave:
    """A wav file of 8, 16, 24 or 32 bits, or of 32 or 64 bits with decimals."""
    name = name_of(path)
    try:
        with open(path, "rb") as file:
            form, content = _parts(file, os.fstat(file.fileno()).st_size, name)
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror or error}") from error
    if len(content) < form.step:
        raise DataError(f"{name} has no sound in it: its length is zero")
    whole = len(content) // form.step * form.step
    samples = _numbers(content[:whole], form).reshape(-1, form.channels).mean(1, dtype=np.float32)
    if not np.isfinite(samples).all():
        raise DataError(f"{name} has samples that are no numbers (nan or infinite)")
    return Wave(samples, form.rate)


def _parts(file: IO[bytes], size: int, name: str) -> tuple[_Format, bytes]:
    """The format and the bytes of the samples: a wav file is a row of parts, each with its
    name and its length."""
    riff, _, kind = struct.unpack("<4sI4s", file.read(12).ljust(12, b"\0"))
    if riff != b"RIFF" or kind != b"WAVE":
        raise DataError(f"{name} is no wav file: it should begin with RIFF and WAVE")
    form: _Format | None = None
    while len(head := file.read(8)) == 8:
        part, length = struct.unpack("<4sI", head)
        if part == b"fmt ":
            form = _format(file.read(min(length, 64)), name)
            file.seek(max(0, length - 64) + length % 2, os.SEEK_CUR)
        elif part == b"data":
            if form is None:
                raise DataError(f"{name} is no wav file: its samples come before their format")
            if length > MOST_BYTES:
                raise DataError(
                    f"{name} would have {length:,} bytes of sound, more than {MOST_BYTES:,}"
                )
            if (there := size - file.tell()) < length:
                raise DataError(
                    f"{name} is cut off: it should have {length:,} bytes of sound, and {there:,} "
                    "are there"
                )
            return form, file.read(length)
        else:
            file.seek(length + length % 2, os.SEEK_CUR)
    raise DataError(f"{name} is a wav file without samples: it is cut off before its 'data'")


def _format(content: bytes, name: str) -> _Format:
    """What the samples are; refused if it is none of those that are read."""
    if len(content) < 16:
        raise DataError(f"{name} is a damaged wav file: its format has {len(content)} bytes")
    code, channels, rate, _, _, bits = struct.unpack("<HHIIHH", content[:16])
    if code == EXTENSIBLE and len(content) >= 26:
        (code,) = struct.unpack("<H", content[24:26])
    if (code, bits) not in KINDS:
        raise DataError(
            f"{name} has samples of {bits} bits in format {code}; regard reads PCM of 8, 16, 24 or "
            "32 bits (format 1) and decimals of 32 or 64 (format 3)"
        )
    if not 1 <= channels <= MOST_CHANNELS or not RATES[0] <= rate <= RATES[1]:
        raise DataError(
            f"a wav file has 1 to {MOST_CHANNELS} channels and {RATES[0]:,} to {RATES[1]:,} "
            f"samples a second; {name} has {channels} and {rate:,}"
        )
    return _Format(code, channels, rate, bits)


def _numbers(content: bytes, form: _Format) -> NDArray[np.floating]:
    """The samples in their order; 8 bits count from 0, the others around 0."""
    if form.code == DECIMAL:
        return np.frombuffer(content, f"<f{form.bits // 8}")
    if form.bits == 8:
        return (np.frombuffer(content, np.uint8).astype(np.float32) - 128) / 128
    if form.bits == 24:  # as the upper three bytes of four
        four = np.zeros((len(content) // 3, 4), np.uint8)
        four[:, 1:] = np.frombuffer(content, np.uint8).reshape(-1, 3)
        return four.view("<i4")[:, 0] / np.float32(2**31)
    numbers = np.frombuffer(content, f"<i{form.bits // 8}")
    return numbers / np.float32(2 ** (form.bits - 1))
