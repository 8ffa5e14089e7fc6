"""The pinned tools that wheels are made with, in an environment of their own under build/."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOME = ROOT / "build" / "release"
PINNED = ("hatchling==1.27.0", "ziglang==0.16.0")
"""Zig's compiler is Clang with the headers and the symbol lists of every glibc: it compiles for
another machine, and for an older Linux than this one, without anything of theirs installed."""
GLIBC = (2, 17)
"""The first that knows aarch64, and what pip calls manylinux2014. PyTorch's own wheels need a newer
one, so nobody who can install PyTorch is left out."""
MACHINES = ("x86_64", "aarch64")


def python() -> Path:
    """The interpreter of the environment with the pinned tools, which is made if need be."""
    made = HOME / "-".join(name.replace("==", "-") for name in PINNED)
    interpreter = made / "bin" / "python"
    if not (made / "ready").exists():
        print(f"installing {', '.join(PINNED)}", flush=True)
        venv.create(made, clear=True, with_pip=True)
        run([str(interpreter), "-m", "pip", "install", "--quiet", *PINNED])
        (made / "ready").touch()
    return interpreter


def compiler(machine: str) -> list[str]:
    """Zig's C compiler for a Linux machine: the kernel needs nothing of C++'s own library."""
    target = f"{machine}-linux-gnu.{'.'.join(map(str, GLIBC))}"
    return [str(python()), "-m", "ziglang", "cc", "-target", target]


def platform(machine: str) -> str:
    """The platform as a wheel's name has it."""
    return f"manylinux_{'_'.join(map(str, GLIBC))}_{machine}"


def run(command: list[str], **environment: str) -> None:
    """Run a command in the project's folder; its failure ends this program."""
    cache = str(HOME / "zig-cache")
    caches = {"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache}
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **caches, **environment})
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")
