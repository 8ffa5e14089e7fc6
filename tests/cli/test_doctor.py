"""regard doctor: what it says is what is in use."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import torch

from regard.attention.kernel import build, library
from regard.doctor import EXTRAS
from tests.cli.run import ROOT, regard


def said(*arguments: str) -> dict[str, str]:
    done = regard("doctor", *arguments)
    assert done.returncode == 0, done.stderr
    pairs = (line.partition(" ") for line in done.stdout.splitlines() if line)
    return {name: value.strip() for name, _, value in pairs}


def test_it_says_what_computes_attention() -> None:
    lines = said()
    found = library.found()
    if isinstance(found, library.Kernel):
        assert lines["attention"] == f"native kernel, {found.variant}"
        assert lines["gradients"] == "native up to 2,048 tokens in float32, PyTorch's beyond"
        assert lines["library"] == str(found.path)
    else:
        assert lines["attention"].endswith(found)
    assert lines["threads"].startswith(f"{torch.get_num_threads()} ")
    assert lines["torch"] == torch.__version__


def test_it_says_why_the_kernel_is_not_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.SWITCH, "off")
    lines = said()
    assert lines["attention"].endswith("not in use: REGARD_KERNEL=off")
    assert lines["REGARD_KERNEL"] == "off"
    monkeypatch.delenv(library.SWITCH)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(library, "PATH", tmp_path / "kernel.so")
    monkeypatch.setenv("PATH", str(tmp_path))
    lines = said()
    assert "it is not compiled" in lines["attention"]
    assert lines["compiler"].startswith("none found")


def test_every_optional_part_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing is asked for by its own name: no index has regard."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {
        extra: tuple(re.match(r"[\w-]+", needed)[0] for needed in packages)  # type: ignore[index]
        for extra, packages in project["optional-dependencies"].items()
        if extra != "dev"
    }
    assert wanted == EXTRAS
    versions = {"starlette": "0.45.0", "gensim": "4.3.3"}
    monkeypatch.setattr("regard.doctor._version", versions.get)
    lines = said()
    assert lines["[words]"] == "gensim 4.3.3"
    assert lines["[web]"] == "starlette 0.45.0; pip install uvicorn"
    assert lines["[models]"] == "pip install transformers accelerate gguf"


def test_a_compiler_that_is_not_there_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "HERE", tmp_path)
    monkeypatch.setenv("CXX", str(tmp_path / "none"))
    done = regard("doctor", "--compile")
    assert done.returncode == 2
    assert "the native kernel was not compiled" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_variant_that_does_not_exist_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(library.found(), str):
        pytest.skip("no kernel here whose variants could be asked for")
    monkeypatch.setenv(library.SWITCH, "avx9000")
    done = regard("doctor")
    assert done.returncode == 2
    assert "REGARD_KERNEL must be 'off' or one of" in done.stderr
