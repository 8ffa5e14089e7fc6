"""The structures of a call: as C++ declares them, field by field."""

from __future__ import annotations

import ctypes
import re

import pytest
import torch

from regard.attention.kernel import build, layout
from regard.attention.kernel.library import Kernel, _places


def declared(header: str, name: str) -> list[str]:
    """The names of the fields of a structure, read from the header."""
    text = (build.HERE / header).read_text()
    found = re.search(rf"struct {name} {{(.*?)\n}};", text, re.DOTALL)
    assert found is not None
    body = re.sub(r"//.*", "", found[1])
    body = re.sub(r"\n  \S+ at\(.*", "", body, flags=re.DOTALL)  # a function, the last of Tape
    lines = [line.strip() for line in body.split(";") if line.strip()]
    return [
        part.strip(" *")
        for line in lines
        for part in re.sub(r"^(const )?\w+\*?( const\*)? ", "", line).split(",")
    ]


@pytest.mark.parametrize(
    ("header", "structure"),
    [
        ("kernel.h", layout.ArrayLayout),
        ("kernel.h", layout.CallLayout),
        ("gradient.h", layout.GradientLayout),
        ("additive.h", layout.TapeLayout),
        ("additive.h", layout.LookLayout),
        ("scan.h", layout.ScanLayout),
        ("weights.h", layout.ProductLayout),
        ("stack.h", layout.NormLayout),
        ("stack.h", layout.LayerLayout),
        ("stack.h", layout.StackLayout),
        ("recurrent.h", layout.UnitLayout),
        ("recurrent.h", layout.ReaderLayout),
        ("recurrent.h", layout.WriterLayout),
        ("rows.h", layout.NetworkLayout),
        ("rows.h", layout.RowsLayout),
        ("choice.h", layout.ChoiceLayout),
        ("search.h", layout.SearchLayout),
    ],
)
def test_the_fields_are_those_of_the_header(header: str, structure: type[ctypes.Structure]) -> None:
    name = structure.__name__.removesuffix("Layout")
    assert declared(header, name) == [field for field, *_ in structure._fields_]


def test_the_library_has_every_place(kernels: list[Kernel]) -> None:
    places = list(layout.places())
    assert list(_places(kernels[0].library)) == places
    assert layout.difference(places) is None
    assert ("Call.scale", 408, 8) in places
    assert ("Look", 0, 440) in places
    assert ("Scan.design", 440, 8) in places


@pytest.mark.parametrize(
    ("change", "expected", "got"),
    [
        (lambda p: p[:-1], "('Search.room', 176, 8)", "None"),
        (lambda p: [*p, ("Search.more", 184, 8)], "None", "('Search.more', 184, 8)"),
        (lambda p: [("Array", 0, 48), *p[1:]], "('Array', 0, 40)", "('Array', 0, 48)"),
    ],
)
def test_every_difference_is_told(change: object, expected: str, got: str) -> None:
    theirs = change(list(layout.places()))  # type: ignore[operator]
    assert layout.difference(theirs) == (
        f"its layout is another than regard's: (field, place, size) must be {expected}, "
        f"got {got}; compile it anew"
    )


def test_tensors_as_fields() -> None:
    tensor = torch.zeros(2, 3, 5, 7)
    assert layout.array(tensor) == (tensor.data_ptr(), 105, 35, 7, 1)
    assert layout.array(tensor.mT)[1:] == (105, 35, 1, 7)
    weights = torch.zeros(3, 5, 7)
    assert layout.tape(weights, "tbs") == (weights.data_ptr(), 35, 7, 1)
    assert layout.tape(weights, "tb")[1:] == (35, 7, 0)
    assert layout.tape(weights, "bs")[1:] == (0, 35, 7)
    assert layout.tape(weights[0, 0], "")[1:] == (0, 0, 0)
