"""Compile the kernel: one library with a variant for each instruction set.

    python -m regard.attention.kernel        compile it beside its sources

Installing regard does this by itself where there is a C++17 compiler (GCC or Clang). Nothing here
knows torch, and the library is a file that appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = "kernel.so"
COMMON = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti")
KERNEL = ("-O3", "-ffp-contract=fast", "-fno-math-errno")
ALIGNED = ("-falign-functions=64", "-falign-loops=64")
"""Where a loop of products begins in a line of the cache is worth 3 %: not left to luck."""
VARIED = ("additive", "attention", "choice", "gradient", "recurrent", "scan", "stack")
"""The sources that are compiled once for each instruction set."""
COMMON_TO_ALL = ("dispatch", "search")
"""Those that are compiled once: all but arithmetic."""
AVX2 = ("-mavx2", "-mfma", "-mf16c")
AVX512 = (*AVX2, "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl")


class BuildError(Exception):
    """No compiler, or one that could not compile the kernel."""


def sources() -> list[Path]:
    return sorted([*HERE.glob("*.cpp"), *HERE.glob("*.h")])


def digest() -> str:
    """A name for exactly these sources; a library made of others must not be used with them."""
    text = hashlib.sha256()
    for path in sources():
        text.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return text.hexdigest()[:16]


def compiler() -> list[str] | None:
    """The C++ compiler: $CXX, or the first of c++, g++ and clang++ on the path."""
    if os.name != "posix":
        return None
    if os.environ.get("CXX"):
        return shlex.split(os.environ["CXX"])
    found = (shutil.which(name) for name in ("c++", "g++", "clang++"))
    return next(([path] for path in found if path), None)


def variants(machine: str | None = None) -> dict[str, tuple[str, ...]]:
    """The instruction sets to compile for, with the flags that allow them. Never this machine's
    own: a library runs on others too, and asks them what they can do."""
    machine = platform.machine().lower() if machine is None else machine
    if machine in ("x86_64", "amd64"):
        return {"portable": (), "avx2": AVX2, "avx512": AVX512}
    if machine in ("aarch64", "arm64"):
        return {"neon": ()}  # every such CPU has it
    return {"portable": ()}


def build(folder: Path = HERE, machine: str | None = None) -> Path:
    """Compile the library into ``folder``, for another ``machine`` if the compiler makes that."""
    command = compiler()
    if command is None:
        raise BuildError("no C++ compiler (c++, g++, clang++ or $CXX) was found")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".kernel-", dir=folder) as work:
        jobs = [
            (
                f"-DREGARD_VARIANT={name}",
                *KERNEL,
                *ALIGNED,
                *flags,
                f"{source}.cpp",
                f"{source}-{name}.o",
            )
            for name, flags in variants(machine).items()
            for source in VARIED
        ]
        named = f'-DREGARD_SOURCES="{digest()}"'
        jobs += [(named, "-O2", f"{source}.cpp", f"{source}.o") for source in COMMON_TO_ALL]

        def compile_one(job: tuple[str, ...]) -> None:
            *flags, source, made = job
            _run(
                [
                    *command,
                    *COMMON,
                    *flags,
                    "-c",
                    str(HERE / source),
                    "-o",
                    f"{work}/{made}",
                ]
            )

        pool = ThreadPoolExecutor(os.cpu_count())
        try:
            list(pool.map(compile_one, jobs))
        finally:  # whoever interrupts does not wait for what has not begun
            pool.shutdown(cancel_futures=True)
        objects = sorted(str(path) for path in Path(work).glob("*.o"))
        made = f"{work}/{LIBRARY}"
        libraries = ("-s", "-lpthread", "-ldl") if sys.platform.startswith("linux") else ()
        _run([*command, "-shared", *objects, "-o", made, *libraries])
        os.replace(made, folder / LIBRARY)
    return folder / LIBRARY


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise BuildError(f"{command[0]} cannot be run: {error.strerror}") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        first = next((line for line in lines if "error" in line), lines[0])
        raise BuildError(f"{command[0]} failed: {first}")
