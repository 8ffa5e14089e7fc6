"""The public names: sorted, importable, and no others."""

from __future__ import annotations

import importlib

import pytest

import regard
import regard.attention


def test_the_public_names() -> None:
    assert regard.__all__ == [
        "AttentionMap",
        "Mask",
        "MultiHeadAttention",
        "RegardError",
        "Step",
        "Trace",
        "Words",
        "attend",
        "check",
        "intervene",
        "observe",
        "record",
        "self_attention",
    ]
    assert dir(regard) == regard.__all__


def test_the_names_of_attention() -> None:
    assert regard.attention.__all__ == [
        "Additive",
        "Attended",
        "AttentionMap",
        "Bilinear",
        "HeadMap",
        "KeyValueCache",
        "Link",
        "Mask",
        "MultiHeadAttention",
        "StoredMap",
        "Word",
        "additive",
        "attend",
        "bilinear",
        "causal",
        "dot",
        "mix",
        "padding",
        "scaled_dot",
        "self_attention",
        "weigh",
        "window",
    ]


@pytest.mark.parametrize("package", ["regard", "regard.attention", "regard.trace"])
def test_every_name_is_there_and_sorted(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__ == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_name_is_the_same_object_wherever_it_is_imported_from() -> None:
    assert regard.attend is regard.attention.attend
    assert callable(regard.attention.self_attention)
    assert callable(regard.record), "the module of the same name must not hide the function"


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'atend'"):
        regard.atend  # noqa: B018
