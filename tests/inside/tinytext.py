"""Tiny random models of several families in folders, with a byte-level tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from tests.inside.tiny import SIZES, tiny

STORY = (
    "The animal didn't cross the street because it was too tired. The street was wide, and the "
    "animal was small; it sat down. The animal didn't cross the street again.\n"
    "Unbelievably, the street stayed: wide, grey and empty."
)
SENTENCE = "the unbelievable animal was too tired. it didn't cross the street"
"""In the words of the tiny BERT's vocabulary."""
SPECIAL = ["<s>", "</s>", "<pad>"]


def tokenizer(ends: bool = False) -> Any:
    """Byte-level BPE trained on a few lines; ``ends``: a text ends with </s>."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([STORY], trainer)
    if ends:
        made.post_processor = processors.TemplateProcessing(
            single="$A </s>", special_tokens=[("</s>", 1)]
        )
    else:
        made.post_processor = processors.ByteLevel(trim_offsets=False)
    return made


def save(folder: Path, family: str, head: str = "Model", **settings: Any) -> Any:
    """Save a tiny model of ``family`` with the tokenizer; the model, with eager attention."""
    before = SIZES[family]
    given: dict[str, Any] = {
        "vocab_size": 300,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "pad_token_id": 2,
    }
    if "decoder_start_token_id" in before:
        given["decoder_start_token_id"] = 1
    SIZES[family] = before | given | settings
    try:
        model = tiny(family, "eager", head)
    finally:
        SIZES[family] = before
    model.save_pretrained(folder)
    tokenizer(ends=head != "Model").save(str(folder / "tokenizer.json"))
    return model
