"""The library is compiled whole or not at all, and no variant borrows from another."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from regard.attention.kernel import build
from regard.attention.kernel.library import Kernel, load

NEEDS_COMPILER = pytest.mark.skipif(build.compiler() is None, reason="no C++ compiler")
# A process in the background of a shell begins with SIGINT ignored: the first line hears it again.
BUILD = """
import signal; signal.signal(signal.SIGINT, signal.default_int_handler)
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import build
build.build(Path({to!r}))
"""


def test_without_a_compiler_there_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert build.compiler() is None
    with pytest.raises(build.BuildError, match="no C\\+\\+ compiler"):
        build.build(tmp_path)
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    with pytest.raises(build.BuildError, match="cannot be run: No such file"):
        build.build(tmp_path)


def test_a_compiler_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "c++"
    broken.write_text("#!/bin/sh\necho 'kernel.h: error: no such luck' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    with pytest.raises(build.BuildError, match="no such luck"):
        build.build(tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []


@NEEDS_COMPILER
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_build_leaves_no_library(tmp_path: Path, how: signal.Signals) -> None:
    script = BUILD.format(here=str(build.HERE), to=str(tmp_path))
    child = subprocess.Popen(
        [sys.executable, "-c", script], start_new_session=True, stderr=subprocess.DEVNULL
    )
    while child.poll() is None and not list(tmp_path.glob(".kernel-*")):
        time.sleep(0.01)
    os.killpg(child.pid, how)
    assert child.wait(60) != 0
    assert not (tmp_path / build.LIBRARY).exists()
    assert (
        load(tmp_path / build.LIBRARY) == "it is not compiled: kernel.so is not beside its sources"
    )


@NEEDS_COMPILER
@pytest.mark.parametrize(
    ("source", "offered"),
    [
        ("attention", ["work_here"]),
        ("additive", ["look_back_here", "look_here"]),
        ("choice", ["choose_here"]),
        ("scan", ["scan_back_here", "scan_here"]),
        ("stack", ["stack_here"]),
    ],
)
def test_variants_share_no_code(tmp_path: Path, source: str, offered: list[str]) -> None:
    """A function compiled for AVX-512 must not serve a machine without it: no weak symbols."""
    if shutil.which("nm") is None:
        pytest.skip("nm is not installed")
    command = build.compiler()
    assert command is not None
    made = tmp_path / "variant.o"
    flags = [*build.COMMON, "-O1", "-fno-exceptions", "-fno-rtti", "-DREGARD_VARIANT=here"]
    path = str(build.HERE / f"{source}.cpp")
    subprocess.run([*command, *flags, "-c", path, "-o", str(made)], check=True)
    names = subprocess.run(
        ["nm", "--defined-only", str(made)], capture_output=True, text=True, check=True
    )
    shared = [line for line in names.stdout.splitlines() if line.split()[-2] in "VWuTDB"]
    assert [line.split()[-1].lstrip("_") for line in shared] == [f"regard_{n}" for n in offered]


def test_variants_of_a_machine() -> None:
    """Named by the machine that the library is for, whatever this one is."""
    assert list(build.variants("x86_64")) == ["portable", "avx2", "avx512"]
    assert list(build.variants("aarch64")) == list(build.variants("arm64")) == ["neon"]
    assert list(build.variants("riscv64")) == ["portable"]


@NEEDS_COMPILER
def test_the_program_that_other_machines_run(compiled: Path, tmp_path: Path) -> None:
    """definition.cpp, here: every variant that this CPU can run is the definition."""
    command = build.compiler()
    assert command is not None
    program = str(tmp_path / "definition")
    source = str(Path(__file__).with_name("definition.cpp"))
    flags = ["-std=gnu++17", "-O1", "-Wall", "-Werror", f"-I{build.HERE}"]
    subprocess.run([*command, *flags, source, "-o", program, "-ldl"], check=True)
    done = subprocess.run([program, str(compiled), "100"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {line.split()[0] for line in done.stdout.splitlines()} == set(build.variants())
    done = subprocess.run([program, str(tmp_path / "none")], capture_output=True, text=True)
    assert done.returncode == 1
    assert "No such file" in done.stdout


@NEEDS_COMPILER
@pytest.mark.parametrize("variant", build.variants())
def test_the_logarithm_is_right_to_the_last_place(
    kernels: list[Kernel], tmp_path: Path, variant: str
) -> None:
    """logarithm.cpp: normal numbers within 1 ulp; what becomes of the others."""
    if variant not in [kernel.variant for kernel in kernels]:
        pytest.skip(f"this CPU has no {variant}")
    command = build.compiler()
    assert command is not None
    program = str(tmp_path / "logarithm")
    source = str(Path(__file__).with_name("logarithm.cpp"))
    flags = ["-std=gnu++17", *build.KERNEL, *build.variants()[variant], "-Wall", "-Werror"]
    subprocess.run([*command, *flags, f"-I{build.HERE}", source, "-o", program, "-lm"], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("infinity and NaN stay; subnormal numbers are bounded\n")


@NEEDS_COMPILER
@pytest.mark.skipif(not os.environ.get("CI"), reason="takes a minute: continuous integration only")
def test_nothing_is_read_or_written_out_of_bounds(tmp_path: Path) -> None:
    command = build.compiler()
    assert command is not None
    flags = [*build.COMMON, "-O1", "-g", "-fsanitize=address", "-DREGARD_ONLY_PORTABLE"]
    flags += ["-DREGARD_VARIANT=portable", '-DREGARD_SOURCES="test"', f"-I{build.HERE}"]
    sources = [build.HERE / f"{name}.cpp" for name in (*build.VARIED, *build.COMMON_TO_ALL)]
    sources.append(Path(__file__).with_name("bounds.cpp"))
    program = str(tmp_path / "bounds")
    subprocess.run(
        [*command, *flags, *map(str, sources), "-o", program, "-lpthread", "-ldl"], check=True
    )
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "386 runs\n"
