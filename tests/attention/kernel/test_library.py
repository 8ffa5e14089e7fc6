"""The library: used only with its own sources and its caller's layout, and never needed."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import torch

from regard.attention import attend, private
from regard.attention.kernel import build, layout, library
from regard.attention.kernel.library import Kernel, load
from regard.doctor import _features, report
from regard.errors import ConfigError
from tests.attention.kernel.conftest import PLAIN


@pytest.mark.skipif(_features() is None, reason="no /proc/cpuinfo to compare with")
def test_the_library_knows_what_this_cpu_can_do(compiled: Path) -> None:
    kernel, features = load(compiled, PLAIN), _features() or set()
    assert isinstance(kernel, Kernel)
    needed = {
        "avx512": {"avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl"},
        "avx2": {"avx2", "fma", "f16c"},
        PLAIN: set(),
    }
    assert kernel.variants == {name: needed[name] <= features for name in kernel.variants}


def test_what_is_no_kernel_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "kernel.so"
    path.write_bytes(b"\x7fELF cut short")
    assert str(load(path)).startswith("it cannot be loaded: ")


def test_a_kernel_of_other_sources_is_not_used(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "digest", lambda: "another")
    assert str(load(compiled)).startswith("it was compiled from other sources")


def test_the_variable_chooses(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "PATH", compiled)
    monkeypatch.setenv(library.SWITCH, "off")
    assert library.found() == "REGARD_KERNEL=off"
    monkeypatch.setenv(library.SWITCH, PLAIN)
    kernel = library.kernel()
    assert isinstance(kernel, Kernel)
    assert kernel.variant == PLAIN
    monkeypatch.setenv(library.SWITCH, "fast")
    with pytest.raises(ConfigError, match=f"must be 'off' or one of .*{PLAIN}, got 'fast'"):
        library.found()


def test_a_kernel_that_wants_another_call_is_not_used(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two fields that changed places: attention is right all the same, and the doctor says why."""

    class CallLayout(ctypes.Structure):
        _fields_ = [(n, t) for n, t, *_ in layout.CallLayout._fields_]

    names = [name for name, *_ in CallLayout._fields_]
    assert (names.index("heads"), names.index("key_heads")) == (8, 9)

    class Swapped(ctypes.Structure):
        _fields_ = [CallLayout._fields_[{8: 9, 9: 8}.get(i, i)] for i in range(len(names))]

    Swapped.__name__ = "CallLayout"
    known = tuple(Swapped if s is layout.CallLayout else s for s in layout.STRUCTURES)
    monkeypatch.setattr(layout, "STRUCTURES", known)
    monkeypatch.setattr(library, "PATH", compiled)
    monkeypatch.setattr(library, "_found", {})
    monkeypatch.delenv(library.SWITCH, raising=False)
    reason = (
        "its layout is another than regard's: (field, place, size) must be "
        "('Call.key_heads', 256, 8), got ('Call.heads', 256, 8); compile it anew"
    )
    assert load(compiled) == reason
    assert library.kernel() is None
    assert dict(report())["attention"] == (
        f"PyTorch's kernel; the native one is not in use: {reason}"
    )
    values = torch.randn(1, 2, 3, 5)
    torch.testing.assert_close(
        attend(values * 0, values, values).context[0, 0, 0], values[0, 0].mean(0)
    )


def test_where_pytorch_does_not_say_who_watches_it_is_not_used(
    compiled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library, "PATH", compiled)
    monkeypatch.setattr(library, "_found", {})
    for module in (library, private):
        monkeypatch.setattr(module, "UNKNOWN", "PyTorch 9.9 does not say who watches: no such name")
    monkeypatch.delenv(library.SWITCH, raising=False)
    assert private.watched()
    assert str(library.found()).startswith("PyTorch 9.9 does not say")
    assert library.kernel() is None
