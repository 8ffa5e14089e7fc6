"""What the doctor reports is what is there."""

from __future__ import annotations

from importlib import metadata

import pytest
import torch

import regard
from regard import doctor
from regard.attention.kernel import library


def test_the_lines() -> None:
    lines = list(doctor.report())
    said = dict(lines)
    assert lines[0][0] == "attention"
    assert said["regard"] == regard.__version__
    assert said["torch"] == torch.__version__
    assert said["click"] == metadata.version("click")
    assert f"PyTorch uses {torch.backends.cpu.get_cpu_capability()}" in said["CPU"]


def test_a_part_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.EXTRAS, "plot", ("click", "no-such-package"))
    there = f"click {metadata.version('click')}"
    assert dict(doctor.report())["[plot]"] == f"{there}; pip install no-such-package"


def test_without_the_kernel_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "found", lambda: "of a reason")
    said = dict(doctor.report())
    assert said["attention"] == "PyTorch's kernel; the native one is not in use: of a reason"
    assert "library" not in said
    assert said["compiler"]
