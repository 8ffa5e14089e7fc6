"""The scripts of a release: a wheel that is not what it says is found out."""

from __future__ import annotations

import importlib
import struct
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from regard.attention.kernel import build

ROOT = Path(__file__).parents[1]
AARCH64 = 183


@pytest.fixture
def wheels(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "release"))
    module = importlib.import_module("wheels")

    for name in ("wheels", "toolchain"):
        monkeypatch.delitem(sys.modules, name)
    return module


def made(
    folder: Path, *, machine: int = AARCH64, glibc: str = "2.17", digest: str | None = None
) -> Path:
    """A wheel for ARM with the kernel's sources and something like a library in it."""
    library = b"\x7fELF".ljust(18, b"\0") + struct.pack("<H", machine)
    library += f"GLIBC_2.2.5\0GLIBC_{glibc}\0{digest or build.digest()}\0".encode()
    with zipfile.ZipFile(folder / "regard-1-py3-none-manylinux_2_17_aarch64.whl", "w") as wheel:
        for name in ("docs/check.md", "worked/examples/two-heads.toml", "views/page/page.html"):
            wheel.writestr(f"regard/{name}", "")
        wheel.writestr("regard/shipped/bahdanau/model.safetensors", "")
        wheel.writestr("regard/attention/kernel/kernel.so", library)
        for path in build.sources():
            wheel.write(path, f"regard/attention/kernel/{path.name}")
    return folder


def test_a_right_wheel(wheels: ModuleType, tmp_path: Path) -> None:
    line = wheels.checked(made(tmp_path), "manylinux_2_17_aarch64", "aarch64")
    assert line.startswith("regard-1-py3-none-manylinux_2_17_aarch64.whl")
    assert line.endswith("needs glibc 2.17")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"machine": 62}, "of another machine"),
        ({"glibc": "2.28"}, r"the kernel needs glibc \(2, 28\), not \(2, 17\)"),
        ({"digest": "0123456789abcdef"}, "compiled from other sources"),
    ],
)
def test_a_wrong_kernel(
    wheels: ModuleType, tmp_path: Path, wrong: dict[str, int | str], said: str
) -> None:
    with pytest.raises(SystemExit, match=f"wrong wheel: .*{said}"):
        wheels.checked(made(tmp_path, **wrong), "manylinux_2_17_aarch64", "aarch64")  # type: ignore[arg-type]


def test_a_kernel_where_none_should_be(wheels: ModuleType, tmp_path: Path) -> None:
    (path,) = made(tmp_path).glob("*.whl")
    path.rename(tmp_path / "regard-1-py3-none-any.whl")
    with pytest.raises(SystemExit, match="kernel or no kernel"):
        wheels.checked(tmp_path, "any", None)
