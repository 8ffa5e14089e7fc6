"""Try the wheels of a release as a stranger would, in clean environments; print a table.

    python release/installations.py [--large] [3.12 …]        after release/wheels.py

What regard needs is fetched once for each Python; from then on there is no index. Each wheel is
installed, the environment is made read-only, and commands run without a compiler, as a user who is
not root and has no home, without a network (these two if root runs this on Linux: else as things
are, and the table says how). ``--large`` also tries a Python for which PyTorch is to be had only
with CUDA's libraries: gigabytes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from toolchain import ROOT
from wheels import DIST

PYTHONS = ("3.11", "3.12", "3.13")
COMMANDS: list[tuple[str, int, str]] = [
    ("--version", 0, "regard, version"),
    ("doctor", 0, "attention"),
    ("check --list", 0, "two-heads"),
    ("check two-heads", 0, "All 42 numbers are right."),
    ("check tutorial-printed", 1, "9 of 19 numbers are wrong"),
    ("docs check", 0, "# Checking a worked example"),
    ("translate Guten\tMorgen!", 0, "Good morning"),
    ("doctor --compile", 2, "regard: error: the native kernel "),
]
"""What is run, its exit code, and what it prints among other things; a tab is a space."""
PROBE = """
import os, shutil, socket, sys, sysconfig
place = sysconfig.get_path("purelib")
compilers = [name for name in ("c++", "g++", "clang++", "cc") if shutil.which(name)]
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("192.0.2.1", 9))
    network = "network"
except OSError:
    network = "no network"
print(sys.version.split()[0], f"uid {os.getuid()}", network,
      "writable" if os.access(place, os.W_OK) else "read-only",
      compilers[0] if compilers else "no compiler", sep="|")
import torch
from regard.attention import attend
from regard.attention.kernel.library import kernel
torch.manual_seed(0)
q, k, v = torch.randn(3, 2, 37, 16)
exact = (q.double() @ k.double().mT / 4).softmax(-1) @ v.double()
error = float((attend(q, k, v).context - exact).abs().max())
assert error < 1e-6, error
used = "PyTorch" if kernel() is None else f"kernel, {kernel().variant}"
print(torch.__version__, used, f"{error:.0e}", sep="|")
"""
HEADER = ("Python", "user", "network", "installed", "compiler", "PyTorch", "attention by", "error")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("versions", nargs="*", default=PYTHONS, help="of Python")
    parser.add_argument("--large", action="store_true", help="download CUDA's libraries if need be")
    given = parser.parse_args()
    print(" | ".join(("wheel", *HEADER, "commands")), flush=True)
    fine = True
    for version in given.versions:
        with tempfile.TemporaryDirectory(prefix="regard-install-") as folder:
            os.chmod(folder, 0o755)
            for row, right in tried(version, Path(folder), given.large):
                print(row, flush=True)
                fine &= right
    sys.exit(0 if fine else 1)


def tried(version: str, folder: Path, large: bool) -> Iterator[tuple[str, bool]]:
    """A row for each wheel with this Python, and whether it is as it should be."""
    python = interpreter(version, folder)
    if python is None:
        yield f"Python {version}: not tried, no interpreter was found", True
        return
    environment = folder / "environment"
    subprocess.run([python, "-m", "venv", environment], check=True)
    wheels = [*DIST.glob(f"*_{os.uname().machine}.whl"), *DIST.glob("*-any.whl")]
    problem = fetched(environment, folder / "house", wheels[-1], large)
    if problem:
        yield f"Python {version}: not tried, {problem}", True
        return
    for wheel in wheels:
        install(environment, folder / "house", wheel)
        chmod(environment, "a-w")
        said, failed = looked_at(environment)
        chmod(environment, "u+w")
        good = f"{len(COMMANDS) - len(failed)} of {len(COMMANDS)}"
        yield (
            " | ".join((wheel.name.split("-", 2)[2], *said, "; ".join([good, *failed]))),
            not failed,
        )


def interpreter(version: str, folder: Path) -> Path | None:
    """A Python of this version that a stranger can run: if need be a copy of one."""
    places = [Path(p) for p in os.environ.get("PATH", "").split(os.pathsep)]
    places += sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin"))
    found = [place / f"python{version}" for place in places]
    ask = ["-c", "import sys, ensurepip, venv; print(sys.base_prefix)"]
    for path in found:
        if output([*stranger(), str(path), *ask]):
            return path
    for prefix in filter(None, (output([str(path), *ask]) for path in found)):
        left_out = shutil.ignore_patterns("site-packages", "test", "__pycache__")
        shutil.copytree(prefix, folder / "python", symlinks=True, ignore=left_out)
        return folder / "python" / "bin" / f"python{version}"
    return None


def fetched(environment: Path, house: Path, wheel: Path, large: bool) -> str:
    """Put the wheels of all that regard needs into ``house``; why not, if they cannot be had."""
    pinned = ["--constraint", str(ROOT / "constraints.txt"), "--only-binary", ":all:", str(wheel)]
    pip = pip_of(environment)
    plan = output([*pip, "install", "--dry-run", "--quiet", "--report", "-", *pinned])
    if plan is None:
        return "not all that regard needs has wheels for it here"
    packages = [item["metadata"]["name"] for item in json.loads(plan)["install"]]
    cuda = [name for name in packages if name.startswith(("nvidia-", "cuda-"))]
    if cuda and not large:
        return f"PyTorch comes with {len(cuda)} packages of CUDA's here (--large tries it)"
    subprocess.run([*pip, "download", "-qq", "--dest", house, *pinned], check=True)
    return ""


def install(environment: Path, house: Path, wheel: Path) -> None:
    """From the house alone; a wheel after the first replaces regard and nothing else."""
    only = ["--no-index", "--find-links", str(house)]
    again = ["--force-reinstall", "--no-deps"] if list(environment.glob("bin/regard")) else []
    subprocess.run(
        [*pip_of(environment), "install", "--quiet", *only, *again, str(wheel)], check=True
    )


def pip_of(environment: Path) -> list[str]:
    return [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]


def looked_at(environment: Path) -> tuple[list[str], list[str]]:
    """What a process of a stranger finds out about its surroundings; the commands that failed."""
    programs = environment / "bin"
    probe = asked(programs / "python", "-c", PROBE)
    if probe.returncode:
        return [probe.stderr.strip().splitlines()[-1]], ["attention"]
    failed = []
    for command, code, text in COMMANDS:
        words = [word.replace("\t", " ") for word in command.split(" ")]
        done = asked(programs / "regard", *words)
        if done.returncode != code or text not in done.stdout + done.stderr:
            failed.append(f"regard {command}: exit {done.returncode} {done.stderr.strip()[-300:]}")
    return [word for line in probe.stdout.splitlines() for word in line.split("|")], failed


def asked(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A stranger runs a program; its own folder is all that is on the path."""
    surroundings = {"PATH": str(program.parent), "HOME": "/nonexistent", "COLUMNS": "100"}
    surroundings["LD_LIBRARY_PATH"] = str(program.parents[2] / "python" / "lib")  # of a copy
    return subprocess.run(
        [*stranger(), str(program), *words],
        env=surroundings,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )


def stranger() -> list[str]:
    """What goes before a command so that nobody runs it, and without a network."""
    if os.getuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"):
        return []
    nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    return [str(shutil.which("unshare")), "--net", str(shutil.which("setpriv")), *nobody]


def output(command: list[str]) -> str | None:
    """What a command prints, or None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd="/")
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def chmod(folder: Path, mode: str) -> None:
    subprocess.run(["chmod", "-R", mode, folder], check=True)


if __name__ == "__main__":
    main()
