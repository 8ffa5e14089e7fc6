"""The kernel for these tests: the one that is installed, or one that is compiled for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.attention.kernel import build, library
from regard.attention.kernel.library import Kernel

PLAIN = next(iter(build.variants()))
"""The variant that every machine of this kind can run: portable, or neon on ARM."""


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if isinstance(library.load(library.PATH, PLAIN), Kernel):
        return library.PATH
    if build.compiler() is None:
        pytest.skip("no C++ compiler: regard works without its kernel here")
    return build.build(tmp_path_factory.mktemp("kernel"))


@pytest.fixture(scope="session")
def kernels(compiled: Path) -> list[Kernel]:
    """Every variant that this CPU can run."""
    first = library.load(compiled, PLAIN)
    assert isinstance(first, Kernel), first
    loaded = [library.load(compiled, name) for name, runs in first.variants.items() if runs]
    return [kernel for kernel in loaded if isinstance(kernel, Kernel)]
