"""Make the wheels of a release in dist/, and check what is in them.

    python release/wheels.py

One for each machine that the kernel is compiled for, tagged by platform and not by Python version
(the kernel is no extension module: it knows nothing of Python), and one without a kernel for
everywhere else, where PyTorch computes or ``regard doctor --compile`` compiles.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import shutil
import struct
import sys
import zipfile
from pathlib import Path

from toolchain import GLIBC, MACHINES, ROOT, compiler, platform, python, run

DIST = ROOT / "dist"
KERNEL = "regard/attention/kernel/"
ELF_MACHINE = {"x86_64": 62, "aarch64": 183}


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    for machine in MACHINES:
        name = platform(machine)
        run(build(), REGARD_PLATFORM=name, CXX=shlex.join(compiler(machine)))
        print(checked(DIST, name, machine), flush=True)
    run(build(), REGARD_PLATFORM="any")
    print(checked(DIST, "any", None), flush=True)


def build() -> list[str]:
    return [str(python()), "-m", "hatchling", "build", "-t", "wheel", "-d", str(DIST)]


def checked(folder: Path, name: str, machine: str | None) -> str:
    """A line about the wheel of this platform; the program ends if it is not what it should be."""
    (path,) = folder.glob(f"regard-*-py3-none-{name}.whl")
    with zipfile.ZipFile(path) as wheel:
        files = set(wheel.namelist())
        for needed in (
            "regard/docs/check.md",
            "regard/worked/examples/two-heads.toml",
            "regard/views/page/page.html",
            "regard/shipped/bahdanau/model.safetensors",
        ):
            require(needed in files, f"{path.name} has no {needed}")
        library = KERNEL + "kernel.so"
        require((library in files) == (machine is not None), f"{path.name}: kernel or no kernel?")
        said = "no kernel" if machine is None else about_kernel(wheel, library, machine)
    return f"{path.name}  {path.stat().st_size / 1e6:.1f} MB  {said}"


def about_kernel(wheel: zipfile.ZipFile, library: str, machine: str) -> str:
    """What the kernel is: of this machine, of the wheel's own sources, of no newer glibc."""
    binary = wheel.read(library)
    require(struct.unpack_from("<H", binary, 18)[0] == ELF_MACHINE[machine], "of another machine")
    sources = [n for n in wheel.namelist() if n.startswith(KERNEL) and n.endswith((".h", ".cpp"))]
    digest = hashlib.sha256()
    for name in sorted(sources):
        digest.update(name.removeprefix(KERNEL).encode() + b"\0" + wheel.read(name) + b"\0")
    require(digest.hexdigest()[:16].encode() in binary, "compiled from other sources")
    needed = max(tuple(map(int, found)) for found in re.findall(rb"GLIBC_(\d+)\.(\d+)", binary))
    require(needed <= GLIBC, f"the kernel needs glibc {needed}, not {GLIBC}")
    return f"kernel of {len(binary) / 1e3:.0f} kB, needs glibc {needed[0]}.{needed[1]}"


def require(fine: bool, problem: str) -> None:
    if not fine:
        sys.exit(f"wrong wheel: {problem}")


if __name__ == "__main__":
    main()
