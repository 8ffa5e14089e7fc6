"""Hugging Face: a translator as the folder of a Marian or Pegasus model, tokenizer included.

Both are the Transformer of Vaswani et al. (2017) with sinusoidal positions and a bias on the
output; Marian has the norm after each sum ("post"), Pegasus before each sublayer ("pre").
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from regard.models.translators.config import TranslatorConfig
from regard.models.translators.transformer import Transformer
from regard.pieces.tokenizer import BOS, EOS, PAD, SPECIAL, UNK, Tokenizer
from regard.store.exchange.layout import in_their_order, their_name, to_theirs
from regard.store.weights import named_weights, write_weights
from regard.vectors.positions import sinusoidal

POSITIONS = 1024
"""As many as the exported model can read."""
CLASSES = {
    "post": ("marian", "MarianMTModel"),
    "pre": ("pegasus", "PegasusForConditionalGeneration"),
}
USE = """\
```python
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(".")
model = AutoModelForSeq2SeqLM.from_pretrained(".")
ids = model.generate(**tokenizer(["…"], return_tensors="pt", padding=True))
print(tokenizer.batch_decode(ids, skip_special_tokens=True))
```"""


def write(folder: Path, model: Transformer, tokens: Tokenizer) -> None:
    """Write the model's files into ``folder``."""
    weights = {
        their_name(name): to_theirs(name, weight.detach()).contiguous().clone()
        for name, weight in named_weights(model).items()
    }
    table = in_their_order(sinusoidal(POSITIONS, model.config.width), 1)
    for stack in ("encoder", "decoder"):
        weights[f"model.{stack}.embed_positions.weight"] = table.clone()
    write_weights(folder / "model.safetensors", weights, {"format": "pt"})
    files = {
        "config.json": model_config(model.config),
        "generation_config.json": generation_config(),
        "tokenizer.json": tokenizer(tokens),
        "tokenizer_config.json": tokenizer_config(),
    }
    for name, content in files.items():
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (folder / name).write_text(text, encoding="utf-8")


def model_config(config: TranslatorConfig) -> dict[str, Any]:
    """Its shape, in their words."""
    kind, name = CLASSES[config.norm]
    sides = {
        f"{side}_{what}": number
        for side in ("encoder", "decoder")
        for what, number in (
            ("layers", config.layers),
            ("attention_heads", config.heads),
            ("ffn_dim", config.feedforward),
        )
    }
    return {
        "model_type": kind,
        "architectures": [name],
        "is_encoder_decoder": True,
        "vocab_size": config.vocabulary,
        "d_model": config.width,
        **sides,
        "activation_function": config.activation or "relu",
        "scale_embedding": True,
        "max_position_embeddings": POSITIONS,
        "dropout": config.dropout,
        "tie_word_embeddings": True,
        **_marks(),
        "dtype": "float32",
    }


def generation_config() -> dict[str, Any]:
    """The search of ``regard translate``: five hypotheses, log p / length, no filler is said."""
    return {
        **_marks(),
        "num_beams": 5,
        "length_penalty": 1.0,
        "early_stopping": True,
        "max_length": 512,
        "bad_words_ids": [[PAD], [BOS]],
    }


def tokenizer(tokens: Tokenizer) -> dict[str, Any]:
    """The vocabulary, told to put the end mark behind a sentence, as the model was trained."""
    content: dict[str, Any] = json.loads(tokens.to_text())
    end = {"SpecialToken": {"id": SPECIAL[EOS], "type_id": 0}}
    content["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": {"id": "A", "type_id": 0}}, end],
        "pair": [
            *({"Sequence": {"id": side, "type_id": 0}} for side in "AB"),
            end,
        ],
        "special_tokens": {
            SPECIAL[EOS]: {"id": SPECIAL[EOS], "ids": [EOS], "tokens": [SPECIAL[EOS]]}
        },
    }
    return content


def tokenizer_config() -> dict[str, Any]:
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": POSITIONS,
        "clean_up_tokenization_spaces": False,
        "pad_token": SPECIAL[PAD],
        "unk_token": SPECIAL[UNK],
        "bos_token": SPECIAL[BOS],
        "eos_token": SPECIAL[EOS],
    }


def _marks() -> dict[str, Any]:
    return {
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }
