"""Run folders: weights with tied parts, what does not fit, two processes in one folder."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from regard.errors import FileError
from regard.models.translators.base import build, sized
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import (
    RunFolder,
    load_translator,
    named_weights,
    set_weights,
    write_weights,
)


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(5, 3)
        self.output = nn.Linear(3, 5, bias=False)
        self.output.weight = self.words.weight
        self.register_buffer("kept", torch.ones(2))
        self.register_buffer("forgotten", torch.ones(2), persistent=False)


def test_tied_weights_are_kept_once(tmp_path: Path) -> None:
    one, other = Tied(), Tied()
    assert list(named_weights(one)) == ["kept", "words.weight"]
    write_weights(tmp_path / "m.safetensors", named_weights(one))
    set_weights(other, load_file(tmp_path / "m.safetensors"), "it")
    assert torch.equal(other.output.weight, one.words.weight)
    assert other.output.weight is other.words.weight


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"kept": None}, "lacks 'kept'"),
        ({"more": torch.ones(1)}, "has a strange 'more'"),
        ({"kept": torch.ones(3)}, "has a misshaped 'kept'"),
    ],
)
def test_weights_that_do_not_fit(change: dict[str, torch.Tensor | None], text: str) -> None:
    weights = {**named_weights(Tied()), **change}
    with pytest.raises(FileError, match=text):
        set_weights(Tied(), {k: v for k, v in weights.items() if v is not None}, "it")


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run folder as a finished run leaves it, its weights in half precision."""
    folder = RunFolder(tmp_path / "run")
    tokens = Tokenizer.train(["eins zwei one two"] * 3, 30)
    config = sized("bahdanau", "tiny", len(tokens))
    folder.write_config({"task": "translate", "model": config.to_dict()})
    tokens.save(folder.tokens)
    weights = {name: t.detach().half() for name, t in named_weights(build(config)).items()}
    save_file(weights, folder.model)
    return folder


def test_half_precision_loads_as_single(run: RunFolder) -> None:
    model, tokens = load_translator(run.path)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert tokens.decode(tokens.encode("eins")) == "eins"


def test_folders_that_are_not_translators(run: RunFolder, tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"not a run folder: it has no config\.json"):
        load_translator(tmp_path)
    run.model.write_bytes(run.model.read_bytes()[:-5])
    with pytest.raises(FileError, match="cannot read the weights"):
        load_translator(run.path)
    run.model.unlink()
    with pytest.raises(FileError, match="no validation was reached"):
        load_translator(run.path)
    run.config.write_text('{"regard": 1, "task": "lm"}')
    with pytest.raises(FileError, match="holds no translator but a 'lm' run"):
        load_translator(run.path)
    run.config.write_text('{"regard"')
    with pytest.raises(FileError, match="cannot read"):
        load_translator(run.path)
    run.config.write_text('{"other": 1}')
    with pytest.raises(FileError, match="not a config of regard"):
        load_translator(run.path)


def test_one_process_at_a_time(run: RunFolder) -> None:
    with (
        run.locked(),
        pytest.raises(FileError, match="another process is training"),
        RunFolder(run.path).locked(),
    ):
        pass
    with run.locked():
        pass


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(FileError, match="not a run folder"):
        RunFolder(tmp_path / "run").check_new()
