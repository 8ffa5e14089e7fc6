"""Run folders: what is read of a finished one, and what is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from regard.errors import FileError
from regard.models.translators.builder import build
from regard.models.translators.config import sized
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import RunFolder, load_language_model, load_translator
from regard.store.weights import named_weights
from regard.train.tasks.perplexity import score_text
from tests.cli.run import regard

SAVED = Path(__file__).with_name("saved")
"""A run folder (its text: run.txt), and the same packed, as version 0.1.0 left them."""


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run folder as a finished run leaves it, its weights in half precision."""
    folder = RunFolder(tmp_path / "run")
    tokens = Tokenizer.train(["eins zwei one two"] * 3, 30)
    config = sized("bahdanau", "tiny", len(tokens))
    folder.write_config({"task": "translate", "model": config.to_dict()})
    tokens.save(folder.path / "tokens.json")
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
    with pytest.raises(FileError, match="holds no translator but a language model"):
        load_translator(run.path)
    run.config.write_text('{"regard"')
    with pytest.raises(FileError, match="cannot read"):
        load_translator(run.path)
    run.config.write_text('{"model_type": "pegasus"}')
    with pytest.raises(
        FileError, match=r"is a pegasus model of Hugging Face's transformers, no run"
    ):
        load_translator(run.path)
    run.config.write_text('{"other": 1}')
    with pytest.raises(FileError, match="not a config of regard"):
        load_translator(run.path)


@pytest.mark.parametrize("size", [20, 40])
def test_tokens_of_another_model_are_refused(size: int, run: RunFolder) -> None:
    """Fewer would be read as others without a word."""
    tokens = Tokenizer.train(["eins zwei drei vier fünf one two three four five"] * 3, size)
    known = run.read_config()["model"]["vocabulary"]
    assert len(tokens) != known
    tokens.save(run.path / "tokens.json")
    message = f"do not fit its model: they are {len(tokens)}, and it knows {known}$"
    with pytest.raises(FileError, match=message):
        load_translator(run.path)


def test_models_may_share_a_vocabulary(run: RunFolder) -> None:
    (run.path / "tokens.json").rename(run.path.parent / "both.json")
    run.write_config({**run.read_config(), "tokens": "../both.json"})
    _, tokens = load_translator(run.path)
    assert tokens.decode(tokens.encode("zwei")) == "zwei"


@pytest.mark.parametrize(("name", "perplexity"), [("run", 14.174381), ("packed", 14.1743)])
def test_what_was_saved_before_still_loads(name: str, perplexity: float) -> None:
    model, tokens = load_language_model(SAVED / name)
    texts = (SAVED / "run" / "valid.txt").read_text().splitlines()
    found = score_text(model, tokens, texts).perplexity
    assert found == pytest.approx(perplexity, rel=1e-5 if name == "run" else 1e-3)


def test_a_run_saved_before_goes_on(tmp_path: Path) -> None:
    shutil.copytree(SAVED / "run", tmp_path / "run")
    text = SAVED / "run.txt"
    done = regard("train", "lm", "-o", tmp_path / "run", "--resume", "--text", text, "--steps", "8")
    assert done.returncode == 0, done.stderr
    assert "resumed at step 6, epoch 1" in done.stdout
    assert "done (steps) after 8 updates" in done.stdout
