"""Tiny models with random weights, one of each family, and inputs for them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

transformers = pytest.importorskip("transformers", minversion="5")

BERT_LIKE = {
    "vocab_size": 53,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}
LLAMA_LIKE = BERT_LIKE | {
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "hidden_size": 32,
    "pad_token_id": 0,
}
BART_LIKE = {
    "vocab_size": 53,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
SIZES: dict[str, dict[str, Any]] = {
    "Bert": BERT_LIKE,
    "Roberta": BERT_LIKE | {"pad_token_id": 0},
    "DistilBert": {"vocab_size": 53, "dim": 24, "n_layers": 2, "n_heads": 3, "hidden_dim": 32},
    "Albert": BERT_LIKE | {"embedding_size": 16, "num_hidden_layers": 3},
    "GPT2": {"vocab_size": 53, "n_embd": 24, "n_layer": 2, "n_head": 3, "n_positions": 64},
    "OPT": {
        "vocab_size": 53,
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "ffn_dim": 32,
        "word_embed_proj_dim": 24,
        "max_position_embeddings": 64,
    },
    "Llama": LLAMA_LIKE,
    "Mistral": LLAMA_LIKE | {"sliding_window": 4},
    "Qwen2": LLAMA_LIKE,
    "Gemma2": LLAMA_LIKE
    | {"sliding_window": 4, "attn_logit_softcapping": 0.5, "query_pre_attn_scalar": 3},
    "T5": {
        "vocab_size": 53,
        "d_model": 24,
        "d_kv": 8,
        "num_layers": 2,
        "num_heads": 3,
        "d_ff": 32,
        "decoder_start_token_id": 0,
    },
    "Bart": BART_LIKE,
    "Marian": BART_LIKE | {"decoder_attention_heads": 3},
    "Whisper": BART_LIKE
    | {"num_mel_bins": 5, "max_source_positions": 10, "max_target_positions": 32},
    "ViT": {
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 32,
        "image_size": 12,
        "patch_size": 4,
    },
    "Bloom": {"vocab_size": 53, "hidden_size": 24, "n_layer": 2, "n_head": 3},
    "GPTJ": {
        "vocab_size": 53,
        "n_embd": 24,
        "n_layer": 2,
        "n_head": 3,
        "n_positions": 64,
        "rotary_dim": 4,
    },
    "DebertaV2": BERT_LIKE | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "Falcon": {
        "vocab_size": 53,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "new_decoder_architecture": True,
        "num_kv_heads": 2,
        "bos_token_id": 1,
        "eos_token_id": 2,
    },
    "GPTNeo": {
        "vocab_size": 53,
        "hidden_size": 24,
        "num_layers": 2,
        "num_heads": 3,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 4,
        "max_position_embeddings": 64,
    },
    "CodeGen": {
        "vocab_size": 53,
        "n_embd": 32,
        "n_layer": 2,
        "n_head": 4,
        "n_positions": 64,
        "rotary_dim": 4,
    },
    "MPNet": BERT_LIKE,
    "Deberta": BERT_LIKE | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "RoFormer": BERT_LIKE | {"embedding_size": 24},
    "XLM": {"vocab_size": 53, "n_words": 53, "emb_dim": 24, "n_layers": 2, "n_heads": 3},
    "Longformer": BERT_LIKE | {"attention_window": 4},
    "LED": BART_LIKE
    | {
        "attention_window": 4,
        "max_encoder_position_embeddings": 64,
        "max_decoder_position_embeddings": 64,
    },
    "LongT5": {
        "vocab_size": 53,
        "d_model": 24,
        "d_kv": 8,
        "num_layers": 2,
        "num_heads": 3,
        "d_ff": 32,
        "local_radius": 3,
        "decoder_start_token_id": 0,
    },
    "ConvBert": BERT_LIKE | {"num_attention_heads": 4, "hidden_size": 32, "embedding_size": 32},
    "BigBird": BERT_LIKE | {"attention_type": "original_full"},
    "IBert": BERT_LIKE,
    "Mpt": {"vocab_size": 53, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64},
    "ProphetNet": {
        "vocab_size": 53,
        "hidden_size": 24,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
        "num_encoder_attention_heads": 3,
        "num_decoder_attention_heads": 3,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
        "max_position_embeddings": 64,
        "decoder_start_token_id": 2,
    },
    "WavLM": {
        "hidden_size": 24,
        "num_hidden_layers": 2,
        "num_attention_heads": 3,
        "intermediate_size": 32,
        "conv_dim": [8, 8],
        "conv_stride": [5, 4],
        "conv_kernel": [10, 4],
        "num_conv_pos_embeddings": 4,
        "num_conv_pos_embedding_groups": 2,
    },
    "Blip": {
        "text_config": BERT_LIKE | {"num_hidden_layers": 2},
        "vision_config": {
            "hidden_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 3,
            "intermediate_size": 32,
            "image_size": 12,
            "patch_size": 4,
        },
        "projection_dim": 8,
    },
    "Sam": {
        "vision_config": {
            "hidden_size": 24,
            "output_channels": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 3,
            "image_size": 32,
            "patch_size": 8,
            "window_size": 2,
            "global_attn_indexes": [1],
            "mlp_dim": 32,
            "num_pos_feats": 8,
        },
        "prompt_encoder_config": {
            "hidden_size": 16,
            "image_size": 32,
            "patch_size": 8,
            "mask_input_channels": 4,
        },
        "mask_decoder_config": {
            "hidden_size": 16,
            "mlp_dim": 32,
            "num_attention_heads": 2,
            "iou_head_hidden_dim": 16,
        },
    },
    "XLNet": {"vocab_size": 53, "d_model": 24, "n_layer": 2, "n_head": 3, "d_inner": 32},
    "DeepseekV32": BERT_LIKE
    | {
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "hidden_size": 32,
        "head_dim": 8,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "qk_rope_head_dim": 8,
        "qk_nope_head_dim": 8,
        "v_head_dim": 8,
        "index_topk": 4,
        "index_head_dim": 16,
        "index_n_heads": 2,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
        "moe_intermediate_size": 16,
        "pad_token_id": 0,
    },
    "DiffLlama": LLAMA_LIKE,
    "GPTNeoX": BERT_LIKE,
    "Qwen3": LLAMA_LIKE,
    "Electra": BERT_LIKE | {"embedding_size": 24},
    "Phi": LLAMA_LIKE,
    "Olmo2": LLAMA_LIKE,
    "GptOss": LLAMA_LIKE | {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 4},
}
BOTH = ("T5", "Bart", "Marian", "Whisper", "LED", "LongT5", "ProphetNet")
"""Encoder and decoder."""


def tiny(family: str, attention: str | None = None, head: str = "Model") -> Any:
    """The family's model: always the same weights, large enough for uneven attention."""
    torch.manual_seed(1)
    config = getattr(transformers, f"{family}Config")(**SIZES[family])
    if family == "Gemma2":
        attention = "eager"  # sdpa knows no soft cap; only newer releases say so themselves
    options = {} if attention is None else {"attn_implementation": attention}
    auto = getattr(transformers, f"AutoModel{head.removeprefix('Model')}")
    model = auto.from_config(config, **options).eval()
    std = 0.15 if family == "T5" else 0.2  # T5 does not scale its scores: rounding grows with them
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.dim() > 1 and "norm" not in name.lower():
                weight.normal_(std=std)
    return model


def inputs(family: str, lengths: tuple[int, ...] = (9, 6), left: bool = False) -> dict[str, Tensor]:
    """A padded batch."""
    torch.manual_seed(2)
    batch, n = len(lengths), max(lengths)
    if family == "ViT":
        return {"pixel_values": torch.randn(batch, 3, 12, 12)}
    if family == "Sam":
        points = torch.randint(0, 32, (batch, 1, 2, 2)).float()
        return {"pixel_values": torch.randn(batch, 3, 32, 32), "input_points": points}
    if family == "WavLM":
        return {"input_values": torch.randn(batch, 200)}
    ids = torch.randint(3, 53, (batch, n))
    mask = (torch.arange(n) < torch.tensor(lengths)[:, None]).long()
    mask = mask.flip(-1) if left else mask
    given = {"input_ids": ids, "attention_mask": mask}
    if family == "Whisper":
        given = {"input_features": torch.randn(batch, 5, 20)}
    if family == "Blip":
        given["pixel_values"] = torch.randn(batch, 3, 12, 12)
    if family in BOTH:
        given["decoder_input_ids"] = torch.randint(3, 53, (batch, 7))
    return given
