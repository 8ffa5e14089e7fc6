"""Sentences as the model of a name reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import FileError, RegardError
from regard.inside.readings import readings_of
from regard.models.reading import SentenceReading
from regard.store.folder import RunFolder


def test_a_shipped_model_reads_each_line_that_has_words() -> None:
    first, second = readings_of("lstmn", ["Tom was tired.", "  ", "He sat."])
    assert isinstance(first, SentenceReading)
    assert first.words == ["<s>", "Tom", "was", "tired", "."]
    assert second.words == ["<s>", "He", "sat", "."]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RegardError, match="there is nothing to read: the text is empty"):
        readings_of("lstmn", ["", " "])
    with pytest.raises(FileError, match=r"neither a folder nor a model .* did you mean 'lstmn'"):
        readings_of("lstnm", ["a"])
    RunFolder(tmp_path).write_config({"task": "translate", "model": {}, "data": {}})
    with pytest.raises(RegardError, match=r"is a translator: of sentences 'regard read' takes"):
        readings_of(str(tmp_path), ["a"])
