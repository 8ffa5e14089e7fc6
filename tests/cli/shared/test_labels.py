"""What a labeller is told apart by; the rest is run in tests/train/tasks/test_labelpieces.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.cli.shared.labels import task_of
from regard.errors import FileError
from regard.store.folder import RunFolder


def test_the_task_of_a_model(tmp_path: Path) -> None:
    assert task_of("lstmn") == "lm"
    RunFolder(tmp_path).write_config({"task": "label-images"})
    assert task_of(str(tmp_path)) == "label-images"
    with pytest.raises(FileError, match="neither a folder nor a model"):
        task_of("nowhere")
