"""Layout: the structures that the kernel is called with, field by field.

kernel.h, gradient.h, additive.h, scan.h, weights.h, stack.h, recurrent.h, rows.h, choice.h and
search.h declare the same for C++. The library describes its own, and is used only if the two
descriptions are one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from ctypes import POINTER, c_double, c_int64, c_void_p
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


class GradientLayout(ctypes.Structure):
    """``Gradient``: of the output of a call, and of what went into it."""

    _fields_ = [
        ("d_out", ArrayLayout),
        ("d_query", ArrayLayout),
        ("d_key", ArrayLayout),
        ("d_value", ArrayLayout),
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
        ("d_mixed", TapeLayout),
        ("d_queries", TapeLayout),
        ("d_scores", TapeLayout),
        ("d_squares", TapeLayout),
        ("d_v", TapeLayout),
        ("d_recency", TapeLayout),
    ]


class ScanLayout(ctypes.Structure):
    """``Scan``: recurrent self-attention over all its words, forward or back."""

    _fields_ = [
        ("look", LookLayout),
        ("design", c_int64),
        ("words", c_int64),
        ("slots", c_int64),
        ("window", c_int64),
        ("sums", TapeLayout),
        ("summary", TapeLayout),
        ("recurrent", c_void_p),
        ("key", c_void_p),
        ("query", c_void_p),
        ("previous", c_void_p),
        ("d_sums", TapeLayout),
        ("d_states", TapeLayout),
        ("d_tape", TapeLayout),
    ]


class ProductLayout(ctypes.Structure):
    """``Product``: W x + b, its weights in panels, of 32 or of 8 bits."""

    _fields_ = [
        ("weight", c_void_p),
        ("bytes", c_void_p),
        ("scale", c_void_p),
        ("bias", c_void_p),
        ("in", c_int64),
        ("out", c_int64),
    ]


class NormLayout(ctypes.Structure):
    """``Norm``: of a layer."""

    _fields_ = [
        ("gamma", c_void_p),
        ("beta", c_void_p),
        ("epsilon", c_double),
    ]


class LayerLayout(ctypes.Structure):
    """``Layer``: of a Transformer."""

    _fields_ = [
        ("own_norm", NormLayout),
        ("own", ProductLayout),
        ("own_out", ProductLayout),
        ("cross_norm", NormLayout),
        ("query", ProductLayout),
        ("cross_out", ProductLayout),
        ("inner_norm", NormLayout),
        ("inner", ProductLayout),
        ("outer", ProductLayout),
    ]


class StackLayout(ctypes.Structure):
    """``Stack``: the layers of an encoder or a decoder, from words to what is made of them."""

    _fields_ = [
        ("layers", POINTER(LayerLayout)),
        ("count", c_int64),
        ("width", c_int64),
        ("heads", c_int64),
        ("before", c_int64),
        ("activation", c_int64),
        ("last", NormLayout),
        ("out", ProductLayout),
        ("words", c_void_p),
        ("scale", c_double),
    ]


class UnitLayout(ctypes.Structure):
    """``Unit``: what a gated unit makes of its state."""

    _fields_ = [("gates", ProductLayout), ("candidate", ProductLayout)]


class ReaderLayout(ctypes.Structure):
    """``Reader``: the encoder of a recurrent translator."""

    _fields_ = [
        ("design", c_int64),
        ("hidden", c_int64),
        ("units", c_int64),
        ("words", c_void_p),
        ("inputs", ProductLayout),
        ("forwards", UnitLayout),
        ("backwards", UnitLayout),
        ("key", ProductLayout),
        ("summary", ProductLayout),
        ("context", ProductLayout),
        ("from_state", ProductLayout),
        ("from_word", ProductLayout),
    ]


class WriterLayout(ctypes.Structure):
    """``Writer``: the decoder of a recurrent translator."""

    _fields_ = [
        ("design", c_int64),
        ("hidden", c_int64),
        ("units", c_int64),
        ("words", c_void_p),
        ("first", ProductLayout),
        ("state", ProductLayout),
        ("word", ProductLayout),
        ("context", ProductLayout),
        ("candidate", ProductLayout),
        ("readout", ProductLayout),
        ("v", c_void_p),
        ("out", ProductLayout),
        ("end", c_int64),
    ]


class NetworkLayout(ctypes.Structure):
    """``Network``: a stack, a reader or a writer, and what a search must know of it."""

    _fields_ = [
        ("stack", POINTER(StackLayout)),
        ("reader", POINTER(ReaderLayout)),
        ("writer", POINTER(WriterLayout)),
        ("vocabulary", c_int64),
        ("out", c_int64),
        ("kept", c_int64),
    ]


class RowsLayout(ctypes.Structure):
    """``Rows``: one call of a network. What is not given is 0."""

    _fields_ = [
        ("network", POINTER(NetworkLayout)),
        ("tokens", c_void_p),
        ("first", c_void_p),
        ("sentences", c_int64),
        ("positions", c_void_p),
        ("out", c_void_p),
        ("threads", c_int64),
        ("position", c_int64),
        ("written", c_void_p),
        ("at_once", c_void_p),
        ("path", c_void_p),
        ("source", c_void_p),
        ("lines", c_void_p),
        ("memory", c_void_p),
        ("layer", c_int64),
        ("head", c_int64),
        ("weights", c_void_p),
        ("longest", c_int64),
    ]


class ChoiceLayout(ctypes.Structure):
    """``Choice``: the best continuations of the hypotheses of some sentences."""

    _fields_ = [
        ("logits", c_void_p),
        ("scores", c_void_p),
        ("sentences", c_int64),
        ("beams", c_int64),
        ("size", c_int64),
        ("silent", c_void_p),
        ("silent_count", c_int64),
        ("count", c_int64),
        ("totals", c_void_p),
        ("places", c_void_p),
        ("threads", c_int64),
    ]


class SearchLayout(ctypes.Structure):
    """``Search``: a whole beam search."""

    _fields_ = [
        ("encoder", POINTER(NetworkLayout)),
        ("decoder", POINTER(NetworkLayout)),
        ("positions", c_void_p),
        ("tokens", c_void_p),
        ("first", c_void_p),
        ("sentences", c_int64),
        ("limits", c_void_p),
        ("beam", c_int64),
        ("best", c_int64),
        ("penalty", c_double),
        ("begin", c_int64),
        ("end", c_int64),
        ("silent", c_void_p),
        ("silent_count", c_int64),
        ("layer", c_int64),
        ("head", c_int64),
        ("threads", c_int64),
        ("scores", c_void_p),
        ("lengths", c_void_p),
        ("said", c_void_p),
        ("longest", c_int64),
        ("weights", c_void_p),
        ("room", c_void_p),
    ]


STRUCTURES: tuple[type[ctypes.Structure], ...] = (
    ArrayLayout,
    CallLayout,
    GradientLayout,
    TapeLayout,
    LookLayout,
    ScanLayout,
    ProductLayout,
    NormLayout,
    LayerLayout,
    StackLayout,
    UnitLayout,
    ReaderLayout,
    WriterLayout,
    NetworkLayout,
    RowsLayout,
    ChoiceLayout,
    SearchLayout,
)


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
