"""Run the kernels that are in the wheels, each against its definition in float64.

    python release/kernels.py        after release/wheels.py

The program is tests/attention/kernel/definition.cpp. A kernel of another machine than this one runs
under qemu, which computes what that machine would compute (and says nothing about its speed).
"""

from __future__ import annotations

import platform
import shutil
import sys
import zipfile

from toolchain import HOME, MACHINES, ROOT, compiler, run
from wheels import DIST, KERNEL

CASES = 1000


def main() -> None:
    for machine in MACHINES:
        folder = HOME / machine
        folder.mkdir(parents=True, exist_ok=True)
        (wheel,) = DIST.glob(f"regard-*{machine}.whl")
        (folder / "kernel.so").write_bytes(zipfile.ZipFile(wheel).read(KERNEL + "kernel.so"))
        program = str(folder / "definition")
        source = str(ROOT / "tests" / "attention" / "kernel" / "definition.cpp")
        flags = ["-std=gnu++17", "-O2", "-fno-exceptions", f"-I{ROOT / KERNEL}"]
        run([*compiler(machine), *flags, source, "-o", program, "-ldl", "-lm"])
        print(f"{wheel.name}{'' if machine == platform.machine() else ', under qemu'}", flush=True)
        run([*emulator(machine), program, str(folder / "kernel.so"), str(CASES)])


def emulator(machine: str) -> list[str]:
    """What goes before a program of another machine."""
    if machine == platform.machine():
        return []
    qemu, libraries = shutil.which(f"qemu-{machine}"), f"/usr/{machine}-linux-gnu"
    if qemu is None:
        sys.exit(f"qemu-{machine} is not installed: apt-get install qemu-user libc6-arm64-cross")
    return [qemu, "-L", libraries]


if __name__ == "__main__":
    main()
