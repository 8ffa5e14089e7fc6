"""A small MarianMTModel with random weights, saved as opus-mt folders are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

TEXTS = [
    "der hund schläft im haus .",
    "die katze isst den fisch .",
    "das kind liest ein buch .",
    "ein hund und eine katze laufen .",
    "the dog sleeps in the house .",
    "the cat eats the fish .",
    "a child reads a book .",
    "a dog and a cat run .",
]


def write_marian(folder: Path, **changes: Any) -> Path:
    """Write the folder: vocabulary as Marian orders it, </s> first and <pad> last."""
    import sentencepiece
    from transformers import MarianConfig, MarianMTModel

    folder.mkdir(parents=True)
    (folder / "text").write_text("\n".join(TEXTS * 20), encoding="utf-8")
    for side in ("source", "target"):
        sentencepiece.SentencePieceTrainer.train(
            input=str(folder / "text"),
            model_prefix=str(folder / side),
            vocab_size=50,
            hard_vocab_limit=False,
            minloglevel=9,
            num_threads=1,
        )
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
    model = sentencepiece.SentencePieceProcessor(str(folder / "source.spm"))
    pieces = [model.id_to_piece(i) for i in range(3, len(model))]
    names = ["</s>", "<unk>", *reversed(pieces), ">>eng<<", "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    tokenizer = {"source_lang": "de", "target_lang": "en", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    torch.manual_seed(3)
    settings: dict[str, Any] = {
        "vocab_size": len(names),
        "d_model": 22,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 29,
        "decoder_ffn_dim": 29,
        "activation_function": "swish",
        "scale_embedding": True,
        "max_position_embeddings": 64,
        "pad_token_id": len(names) - 1,
        "decoder_start_token_id": len(names) - 1,
        "eos_token_id": 0,
        "forced_eos_token_id": None,
        "bad_words_ids": [[len(names) - 1]],
    }
    made: Any = MarianMTModel(MarianConfig(**(settings | changes)))
    made.eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
        made.final_logits_bias.normal_(std=0.5)
    made.save_pretrained(folder)
    return folder
