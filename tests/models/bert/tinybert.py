"""A tiny random BERT in a folder, written by Hugging Face's own code, with a tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

SIZES = {
    "vocab_size": 29,
    "hidden_size": 35,
    "num_hidden_layers": 3,
    "num_attention_heads": 5,
    "intermediate_size": 11,
    "max_position_embeddings": 23,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-9,
}
WORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "animal", "street", "it", "was", "too", "tired"),
    *("wide", "cross", "##ed", "##ing", "because", "didn", "'", "t", ".", "un", "##bel", "##iev"),
    *("##able", "cat", "sat", "on", "mat", "dog"),
)


def save_tiny(folder: Path, kind: str = "BertModel", **settings: Any) -> Any:
    """Save a model whose every number is random, biases and norms too; return it, eager."""
    import transformers

    options: dict[str, Any] = {**SIZES, **settings, "attn_implementation": "eager"}
    config = transformers.BertConfig(**options)
    torch.manual_seed(11)
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return model


def save_tokenizer(folder: Path) -> None:
    """WordPiece over WORDS; it asks for cut and filled texts, as published ones do."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {word: i for i, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(folder / "tokenizer.json"))
