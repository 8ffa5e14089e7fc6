"""Tiny models dissected, one of each layout."""

from __future__ import annotations

from functools import cache
from typing import Any

from regard.inside.anatomy.anatomy import Anatomy, dissect
from tests.inside.tiny import BERT_LIKE, LLAMA_LIKE, SIZES, inputs, tiny

ROW = 5
MORE: dict[str, dict[str, Any]] = {
    "GPTNeoX": BERT_LIKE,
    "Gemma": LLAMA_LIKE,
    "Olmo2": LLAMA_LIKE,
    "Granite": LLAMA_LIKE | {"residual_multiplier": 0.3, "embedding_multiplier": 3.0},
    "Mixtral": LLAMA_LIKE | {"num_local_experts": 3},
    "Phi3": LLAMA_LIKE,
}


@cache
def dissected(family: str, head: str = "ForCausalLM") -> tuple[Anatomy, Any, dict[str, Any]]:
    """The anatomy of token 5, the model and what it was given."""
    before = dict(SIZES)
    SIZES.update(MORE)
    try:
        model = tiny(family, head=head)
    finally:
        SIZES.clear()
        SIZES.update(before)
    given = inputs(family, lengths=(9,))
    given.pop("attention_mask")
    both = "decoder_input_ids" in given
    ids = given["decoder_input_ids" if both else "input_ids"][0].tolist()
    found = dissect(model, lambda: model(**given), ids, ROW, "decoder" if both else "")
    return found, model, given
