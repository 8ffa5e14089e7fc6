"""Tiny models, and the same models with eager attention."""

from __future__ import annotations

from typing import Any

import pytest

from regard.inside.textmodel import TextModel, load
from tests.inside.tinytext import save
from tests.models.bert.tinybert import save_tiny


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> tuple[TextModel, Any]:
    folder = tmp_path_factory.mktemp("bert")
    eager = save_tiny(folder)
    return load(str(folder)), eager


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> tuple[TextModel, Any]:
    folder = tmp_path_factory.mktemp("llama")
    eager = save(folder, "Llama", max_position_embeddings=128)
    return load(str(folder)), eager
