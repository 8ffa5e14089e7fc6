"""Tiny models, and an explorer of them in this process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.inside.tinytext import save
from tests.models.bert.tinybert import save_tiny
from tests.web.server import Client, thread


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "tiny-llama"
    save(made, "Llama", max_position_embeddings=4096)
    return made


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that needs no transformers, so that a process starts sooner."""
    made = tmp_path_factory.mktemp("models") / "tiny-bert"
    save_tiny(made)
    return made


@pytest.fixture(scope="module")
def here(folder: Path) -> Iterator[Client]:
    with thread(folder, most_tokens=3000) as client:
        yield client
