"""What is packed can be unpacked, by code that shares nothing with the packing."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from regard.trace import Array
from regard.views.page.pack import ALPHABET, Pack, checksum, to_text


def unpacked(pack: Pack, number: int) -> Array:
    entry: dict[str, Any] = pack.entries[number]
    data = bytes_of(pack.text()[entry["at"] :], entry["bytes"])
    raw = zlib.decompress(data)
    count = int(np.prod(entry["shape"], dtype=int))
    if entry["kind"] == "bits":
        bits = [(raw[i // 8] >> (i % 8)) & 1 for i in range(count)]
        return np.array(bits, bool).reshape(entry["shape"])
    size = {"f2": 2, "f4": 4}[entry["kind"]]
    numbers = b"".join(raw[i::count] for i in range(count)) if count else b""
    return np.frombuffer(numbers, f"<f{size}").reshape(entry["shape"])


def bytes_of(text: str, count: int) -> bytes:
    out = b""
    for at in range(0, -(-count // 4) * 5, 5):
        word = 0
        for sign in text[at : at + 5]:
            word = word * 85 + ALPHABET.index(sign)
        out += word.to_bytes(4, "big")
    return out[:count]


def test_the_alphabet_means_nothing_to_html_json_and_javascript() -> None:
    assert len(set(ALPHABET)) == 85
    assert not set(ALPHABET) & set("\"&'/<>\\` \n")


@given(st.binary(max_size=40))
def test_text_is_the_bytes(data: bytes) -> None:
    assert bytes_of(to_text(data).decode(), len(data)) == data


@given(arrays(np.float32, (2, 3, 5), elements=st.floats(width=32, allow_nan=True)))
def test_small_arrays_come_back_exactly(value: Array) -> None:
    pack = Pack(half=False)
    pack.add(np.zeros(7))
    np.testing.assert_array_equal(unpacked(pack, pack.add(value) or 0), value)


def test_half_precision_where_it_can_hold_the_numbers() -> None:
    pack = Pack(half=True)
    rng = np.random.default_rng(0)
    value = rng.normal(size=(5, 7))
    back = unpacked(pack, pack.add(value) or 0)
    assert back.dtype == np.float16
    np.testing.assert_array_equal(back, value.astype(np.float16))
    large = unpacked(pack, pack.add(value * 1e6) or 0)
    assert large.dtype == np.float32
    assert unpacked(pack, pack.add(value, exact=True) or 0).dtype == np.float32


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 100])
def test_booleans_are_bits(count: int) -> None:
    value = np.random.default_rng(count).random((count,)) < 0.5
    pack = Pack(half=True)
    np.testing.assert_array_equal(unpacked(pack, pack.add(value) or 0), value)


def test_vectors_of_a_model_take_less_room_than_their_bytes() -> None:
    pack = Pack(half=True)
    value = np.random.default_rng(1).normal(size=(12, 512, 32))
    pack.add(value)
    assert len(pack.text()) < 1.1 * value.size * 2
    assert len(checksum(pack.text())) == 64
