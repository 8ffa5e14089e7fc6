"""Folders of published BERT models: names of all generations, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.errors import ModelError
from regard.models.bert.file import load_bert
from tests.models.bert.test_encoder import IDS
from tests.models.bert.tinybert import save_tiny


def change_config(folder: Path, **settings: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def test_a_model_with_a_head_on_top(tmp_path: Path) -> None:
    theirs = save_tiny(tmp_path, "BertForMaskedLM")
    assert any(n.startswith("bert.") for n in load_file(tmp_path / "model.safetensors"))
    with torch.no_grad():
        expected = theirs.bert(IDS).last_hidden_state
        torch.testing.assert_close(load_bert(tmp_path)(IDS).last, expected, atol=1e-5, rtol=0)


def test_old_names_half_precision_and_shards(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    before = load_bert(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor.half()
        for name, tensor in tensors.items()
    }
    for part in range(2):
        names = list(old)[part::2]
        save_file({n: old[n] for n in names}, tmp_path / f"model-0000{part + 1}.safetensors")
    after = load_bert(tmp_path)
    for (name, a), (_, b) in zip(before.named_parameters(), after.named_parameters(), strict=True):
        assert b.dtype == torch.float32
        torch.testing.assert_close(a.half().float(), b, msg=name)
    assert not after.training


def test_it_needs_no_transformers(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    script = f"""
import sys
sys.modules["transformers"] = None
import torch
from regard.inside.textmodel import load
model = load({str(tmp_path)!r})
ids = torch.tensor(model.read("it was tired").ids)
print(tuple(model.network(ids).last.shape))
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "(5, 35)\n"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model_type": "gpt2"}, "computes BERT: model_type must be 'bert' .* got 'gpt2'"),
        ({"hidden_act": "relu"}, "hidden_act must be 'gelu' .* got 'relu'"),
        ({"position_embedding_type": "relative_key"}, "must be 'absolute'"),
        ({"num_attention_heads": 4}, "heads must divide width, got 4 and 35"),
        ({"hidden_size": "wide"}, "width must be a whole number of at least 1, got 'wide'"),
        (
            {"intermediate_size": 13},
            r"encoder.layer.0.intermediate.dense.weight must be \(13, 35\), got \(11, 35\)",
        ),
        ({"num_hidden_layers": 4}, r"encoder.layer.3.attention.self.query.weight must .* got none"),
    ],
)
def test_another_model_is_refused(tmp_path: Path, settings: dict[str, object], words: str) -> None:
    save_tiny(tmp_path)
    change_config(tmp_path, **settings)
    with pytest.raises(ModelError, match=words):
        load_bert(tmp_path)


def test_broken_folders(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot read .*config.json': No such file"):
        load_bert(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ModelError, match=r"config.json' is not JSON"):
        load_bert(tmp_path)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(ModelError, match="must hold names and values"):
        load_bert(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(ModelError, match=r"has no weights: model.safetensors is missing"):
        load_bert(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(ModelError, match=r"cannot read .*model.safetensors"):
        load_bert(tmp_path)
