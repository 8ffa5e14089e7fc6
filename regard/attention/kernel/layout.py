"""Layout: the structures that the kernel is called with, field by field.

kernel.h and additive.h declare the same for C++. The library describes its own, and is used only
if the two descriptions are one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from ctypes import c_double, c_int64, c_void_p
from itertools import zip_longest

from torch import Tensor


class ArrayLayout(ctypes.Structure):
    """``Array``: a tensor over (batch, head, row, column); strides count elements."""

    _fields_ = [
        ("data", c_void_p),
        ("batch", c_int64),
        ("head", c_int64),
        ("row", c_int64),
        ("column", c_int64),
    ]


class CallLayout(ctypes.Structure):
    """``Call``: one run of attention. What is not given is 0."""

    _fields_ = [
        ("query", ArrayLayout),
        ("key", ArrayLayout),
        ("value", ArrayLayout),
        ("out", ArrayLayout),
        ("mask", ArrayLayout),
        ("bias", ArrayLayout),
        ("dtype", c_int64),
        ("batch", c_int64),
        ("heads", c_int64),
        ("key_heads", c_int64),
        ("queries", c_int64),
        ("keys", c_int64),
        ("width", c_int64),
        ("value_width", c_int64),
        ("before", c_int64),
        ("after", c_int64),
        ("lse", c_void_p),
        ("entropy", c_void_p),
        ("received", c_void_p),
        ("top", c_int64),
        ("top_weights", c_void_p),
        ("top_keys", c_void_p),
        ("cell_rows", c_int64),
        ("cell_columns", c_int64),
        ("pooled_max", c_void_p),
        ("pooled_mean", c_void_p),
        ("threads", c_int64),
        ("scale", c_double),
        ("softcap", c_double),
    ]


class TapeLayout(ctypes.Structure):
    """``Tape``: a tensor over (step, sequence, slot) and a last axis without gaps."""

    _fields_ = [("data", c_void_p), ("step", c_int64), ("sequence", c_int64), ("slot", c_int64)]


class LookLayout(ctypes.Structure):
    """``Look``: the steps of additive attention over a tape, forward or back."""

    _fields_ = [
        ("keys", TapeLayout),
        ("queries", TapeLayout),
        ("v", TapeLayout),
        ("values", TapeLayout),
        ("weights", TapeLayout),
        ("mixed", TapeLayout),
        ("forbidden", c_void_p),
        ("forbidden_stride", c_int64),
        ("recency", c_void_p),
        ("batch", c_int64),
        ("hidden", c_int64),
        ("width", c_int64),
        ("threads", c_int64),
        ("d_e", TapeLayout),
        ("d_queries", TapeLayout),
        ("d_scores", TapeLayout),
        ("d_squares", TapeLayout),
        ("d_v", TapeLayout),
        ("d_recency", TapeLayout),
    ]


STRUCTURES: tuple[type[ctypes.Structure], ...] = (ArrayLayout, CallLayout, TapeLayout, LookLayout)


class PlaceLayout(ctypes.Structure):
    """``Place``: a field, where it begins and how long it is, in bytes; or a whole structure."""

    _fields_ = [("name", ctypes.c_char_p), ("at", ctypes.c_size_t), ("size", ctypes.c_size_t)]


def places() -> Iterator[tuple[str, int, int]]:
    """(name, place, size) of every structure and of its fields, in the order of layout.h."""
    for structure in STRUCTURES:
        name = structure.__name__.removesuffix("Layout")
        yield name, 0, ctypes.sizeof(structure)
        for field, *_ in structure._fields_:
            place = getattr(structure, field)
            yield f"{name}.{field}", place.offset, place.size


def difference(theirs: Iterable[tuple[str, int, int]]) -> str | None:
    """Why a library with these places must not be used; None if they are those here."""
    for expected, got in zip_longest(places(), theirs):
        if expected != got:
            return (
                "its layout is another than regard's: (field, place, size) must be "
                f"{expected}, got {got}; compile it anew"
            )
    return None


def array(tensor: Tensor) -> tuple[int, ...]:
    """The fields of ``Array`` for a tensor of four axes."""
    return (tensor.data_ptr(), *tensor.stride())


def tape(tensor: Tensor, axes: str) -> tuple[int, ...]:
    """The fields of ``Tape`` for a tensor that has these ``axes`` first: t(ime), b(atch), s(lot).

    A last axis of slots has a stride like every other.
    """
    strides = dict(zip(axes, tensor.stride(), strict=False))
    return (tensor.data_ptr(), *(strides.get(axis, 0) for axis in "tbs"))
