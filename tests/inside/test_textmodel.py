"""A GGUF file is read by transformers; a pinned one is kept unpacked, and is then the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.errors import MissingExtraError
from regard.inside import textmodel
from regard.inside.pinned import PINNED, File, Pinned
from regard.inside.textmodel import TextModel, load
from tests.inside.tinytext import STORY, tokenizer

LAYERS, HEADS, KEY_HEADS, WIDTH, INNER = 2, 6, 2, 48, 56


def write_gguf(path: Path) -> None:
    """A Llama of random float32 weights."""
    import gguf

    words = tokenizer()
    vocabulary = [words.id_to_token(i) for i in range(words.get_vocab_size())]
    made = gguf.GGUFWriter(path, "llama")
    made.add_context_length(128)
    made.add_embedding_length(WIDTH)
    made.add_block_count(LAYERS)
    made.add_feed_forward_length(INNER)
    made.add_head_count(HEADS)
    made.add_head_count_kv(KEY_HEADS)
    made.add_layer_norm_rms_eps(1e-5)
    made.add_rope_freq_base(10_000.0)
    made.add_vocab_size(len(vocabulary))
    made.add_tokenizer_model("gpt2")
    made.add_token_list(vocabulary)
    made.add_token_types([gguf.TokenType.NORMAL] * len(vocabulary))
    made.add_token_merges(
        [" ".join(pair) for pair in json.loads(words.to_str())["model"]["merges"]]
    )
    made.add_bos_token_id(0)
    made.add_eos_token_id(1)
    keys = WIDTH // HEADS * KEY_HEADS
    shapes = {"token_embd": (len(vocabulary), WIDTH), "output_norm": (WIDTH,)}
    for i in range(LAYERS):
        shapes |= {f"blk.{i}.{name}_norm": (WIDTH,) for name in ("attn", "ffn")}
        shapes |= {f"blk.{i}.attn_{name}": (WIDTH, WIDTH) for name in ("q", "output")}
        shapes |= {f"blk.{i}.attn_{name}": (keys, WIDTH) for name in "kv"}
        shapes |= {f"blk.{i}.ffn_{name}": (INNER, WIDTH) for name in ("gate", "up")}
        shapes[f"blk.{i}.ffn_down"] = WIDTH, INNER
    numbers = np.random.default_rng(5)
    for name, shape in shapes.items():
        made.add_tensor(f"{name}.weight", numbers.standard_normal(shape, dtype=np.float32) * 0.3)
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()


@pytest.fixture
def alias(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``tiny`` is a pinned GGUF model; the folder that it is in."""
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    folder = tmp_path / "Tiny-abcdefab"
    folder.mkdir()
    write_gguf(folder / "tiny.gguf")
    size = (folder / "tiny.gguf").stat().st_size
    model = Pinned("Tiny", "tiny==1", 1, "abcdefab", (File("tiny.gguf", size, ""),))
    monkeypatch.setitem(PINNED, "tiny", model)
    return folder


def weights(model: TextModel) -> list[torch.Tensor]:
    with regard.observe(model.network) as seen:
        model.run(model.read(STORY[:40]))
    return [seen[layer, head].dense() for layer in range(LAYERS) for head in range(HEADS)]


def test_a_pinned_gguf_model_is_unpacked_once(alias: Path) -> None:
    first = load("tiny")
    assert (first.layers, first.positions) == (LAYERS, 128)
    kept = alias.with_name("Tiny-abcdefab-float32")
    assert sorted(p.name for p in kept.iterdir()) == [
        *("config.json", "model.safetensors", "tokenizer.json")
    ]

    file = alias / "tiny.gguf"
    file.write_bytes(bytes(file.stat().st_size))  # it is not read again
    again = load("tiny")
    assert again.read(STORY) == first.read(STORY)
    assert all(torch.equal(a, b) for a, b in zip(weights(first), weights(again), strict=True))


def test_a_gguf_file_of_ones_own_is_left_as_it_is(tmp_path: Path) -> None:
    write_gguf(tmp_path / "own.gguf")
    assert len(weights(load(str(tmp_path / "own.gguf")))) == LAYERS * HEADS
    assert [p.name for p in tmp_path.iterdir()] == ["own.gguf"]


def test_a_cache_that_is_full_costs_time_and_no_more(
    alias: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(textmodel, "save_model", full)
    with pytest.warns(UserWarning, match=r"tiny could not be kept unpacked in .*No space left"):
        assert load("tiny").layers == LAYERS
    assert [p.name for p in alias.parent.iterdir()] == [alias.name]


def test_what_gguf_needs_is_named(alias: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers.modeling_gguf_pytorch_utils as reader

    monkeypatch.setattr(reader, "is_gguf_available", lambda *_: False)
    with pytest.raises(
        MissingExtraError, match="needs accelerate and gguf: pip install accelerate gguf"
    ):
        load("tiny")


def test_a_title_holds_no_path(tmp_path: Path) -> None:
    network = torch.nn.Linear(2, 3)
    folder = tmp_path / "mine"
    folder.mkdir()
    assert TextModel(str(folder), network, None, None).title == "mine"
    assert TextModel("google-bert/bert", network, None, None).title == "google-bert/bert"
