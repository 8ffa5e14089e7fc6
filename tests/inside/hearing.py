"""Small models of sounds and series with random weights, as folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from tests.inside.vision import save

WORDS = ["<start>", "<end>", "<unk>", "one", "two", "three", "seven"]


def save_whisper(folder: Path) -> Path:
    """A Whisper that reads one second, 50 pieces of 20 ms, and writes six words."""
    from transformers import (
        WhisperConfig,
        WhisperFeatureExtractor,
        WhisperForConditionalGeneration,
    )

    config = WhisperConfig(
        vocab_size=len(WORDS),
        num_mel_bins=7,
        d_model=26,
        encoder_layers=3,
        decoder_layers=3,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=31,
        decoder_ffn_dim=31,
        max_source_positions=50,
        max_target_positions=23,
        decoder_start_token_id=0,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
        begin_suppress_tokens=None,
        init_std=0.2,
    )
    sizes = {"feature_size": 7, "chunk_length": 1}
    extractor = WhisperFeatureExtractor(**sizes)  # type: ignore[no-untyped-call]
    save(WhisperForConditionalGeneration, config, extractor, folder)
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(WORDS)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["<start>", "<end>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<start> $A <end>", special_tokens=[("<start>", 0), ("<end>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def save_wav2vec2(folder: Path) -> Path:
    """A Wav2Vec2 whose convolutions stride over 160 samples: a piece is 10 ms."""
    from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    config = Wav2Vec2Config(
        hidden_size=26,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=31,
        conv_dim=(8, 8),
        conv_stride=(10, 16),
        conv_kernel=(10, 16),
        num_conv_pos_embeddings=4,
        num_conv_pos_embedding_groups=2,
        initializer_range=0.2,
    )
    return save(Wav2Vec2Model, config, Wav2Vec2FeatureExtractor(), folder)  # type: ignore[no-untyped-call]


def save_patchtst(folder: Path, **changed: Any) -> Path:
    """A PatchTST that reads 43 steps of 2 channels in patches of 8 that overlap by 3."""
    from transformers import PatchTSTConfig, PatchTSTModel

    sizes: dict[str, Any] = {
        "num_input_channels": 2,
        "context_length": 43,
        "patch_length": 8,
        "patch_stride": 5,
    }
    sizes |= {"d_model": 26, "num_attention_heads": 2, "ffn_dim": 31, "num_hidden_layers": 3}
    sizes |= {"init_std": 0.1}
    with torch.random.fork_rng():
        torch.manual_seed(5)
        PatchTSTModel(PatchTSTConfig(**(sizes | changed))).save_pretrained(folder)
    return folder


def save_table(file: Path, rows: int = 60) -> Path:
    """A table of steps with two columns, one of which goes up and down every seven."""
    week = [3, 5, 9, 4, 1, 0, 2]
    lines = [f"{1000 + i},{week[i % 7]},{i * 0.5:.1f}" for i in range(rows)]
    file.write_text("time,load,level\n" + "\n".join(lines) + "\n")
    return file
