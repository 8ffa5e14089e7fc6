"""Tiny models of every family of the installed transformers, and inputs that they take.

A family's own default configuration is made small by the names of its fields: sizes, layers, heads,
vocabularies, images. What is still too large or does not fit together has a line in OVERRIDES.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

MOST_PARAMETERS = 30_000_000
SMALL: list[tuple[str, int]] = [
    (r"codebook_(size|dim)", 64),
    (r"vocab_size$|^vocab_size|n_vocab|num_embeddings", 160),
    (r"(experts|moe|router).*(per_tok|top_?k)|^moe_(top)?k$|^top_?k$", 2),
    (r"^(n_group|topk_group|num_expert_group.*)$", 1),
    (r"shared_experts?$|n_shared|first_k_dense", 1),
    (r"(num|n).*experts$|moe_num_experts", 4),
    (r"rotary_dim", 4),
    (r"(index_)?topk$", 4),
    (r"head_dim|d_kv$|kv_channels|head_size|d_head|qk_(nope_)?head|v_head", 8),
    (r"(key_value|kv|query_group|group).*heads$|n_head_kv|multi_query_group_num|kv_n_heads", 2),
    (r"heads?$|nhead$|num_attn_heads|head_num", 4),
    (r"lora_rank|_rank$|low_rank", 16),
    (r"layers?$|num_blocks|^depth$|n_layer|num_.*_layers|layer_count|_depth$", 2),
    (r"intermediate|ffn|d_ff$|feed_?forward|mlp_(hidden_)?dim|inner_dim|d_inner|^fc_", 48),
    (r"patch_size|tubelet", 8),
    (r"(image|img|crop|input)_(size|resolution)", 32),
    (r"position|n_ctx$|n_positions|max_seq|max_len|context_length|max_target|max_source", 128),
    (r"hidden|d_model|n_embd|embed|_dim$|^dim$|width|_size_in|channels_out|projector", 32),
    (r"num_(object_)?queries|query_length|num_query|num_latents|num_proposals", 6),
    (r"num_labels|num_classes", 3),
    (r"num_mel_bins|n_mels|feature_size|feat_extract_.*_size", 16),
]
KEPT = re.compile(
    r"dropout|eps|kernel|stride|ratio|num_channels|num_input_channels|theta|token|std|range|factor"
    r"|conv_|feat_extract|mamba|ssm|state|group_size$|expansion|interval|period|padding|window|num_buckets|max_distance|type_vocab"
)
"""Fields that are no size, or whose size is small."""
SWIN = {"window_size": 2, "image_size": 64, "patch_size": 4}
OVERRIDES: dict[str, dict[str, Any]] = {
    "bamba": {"mamba_n_heads": 8, "mamba_d_head": 8, "attn_layer_indices": [1]},
    "donut-swin": SWIN,
    "esm": {"vocab_size": 160, "pad_token_id": 0, "mask_token_id": 4},
    "esmc": {"num_key_value_heads": 4},
    "granitemoehybrid": {"mamba_n_heads": 8, "mamba_d_head": 8},
    "maskformer-swin": SWIN,
    "swin": SWIN,
    "swinv2": SWIN,
    "falcon_h1": {"mamba_d_ssm": 64, "mamba_n_heads": 8, "mamba_d_head": 8},
}
"""By model type: fields as they must be."""
NOT_TRIED = {
    "encoder-decoder": "made of two other families",
    "speech-encoder-decoder": "made of two other families",
    "vision-encoder-decoder": "made of two other families",
    "vision-text-dual-encoder": "made of two other families",
    "timm_backbone": "needs timm",
    "timm_wrapper": "needs timm",
}


def config_of(kind: str) -> Any:
    """The tiny configuration of a model type."""
    from transformers import CONFIG_MAPPING

    made = CONFIG_MAPPING[kind]
    fields = shrunk(made()) | OVERRIDES.get(kind, {})
    return made(**fields)


def shrunk(config: Any) -> dict[str, Any]:
    """The fields of a configuration that are sizes, made small."""
    fields: dict[str, Any] = {}
    heads = next((v for k, v in vars(config).items() if "heads" in k and _numbers(v)), None)
    ids = 3
    for name, value in vars(config).items():
        if name.startswith("_") or name == "layer_types":
            continue
        if hasattr(value, "model_type") and hasattr(value, "to_dict"):
            fields[name] = shrunk(value) | OVERRIDES.get(value.model_type, {})
            fields[name]["model_type"] = value.model_type
        elif name.endswith(("token_id", "token_index", "_id")) and type(value) is int:
            fixed = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
            fields[name] = fixed.get(name, ids)
            ids += name not in fixed
        elif _numbers(value):
            fields |= _small_list(name, value, heads)
        elif isinstance(value, int) and not isinstance(value, bool):
            small = _small(name, value)
            if small is not None:
                fields[name] = small
            if heads and re.fullmatch(r"embed_dim|hidden_size", name):
                fields[name] = 8 * heads[0]
    if "head_dim" in fields or _has_sections(config):
        fields["head_dim"] = 8
    if _has_sections(config):
        rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 1, 1]}
        fields["rope_parameters"] = rope
    if "kv_lora_rank" in fields and "num_key_value_heads" in fields:
        fields["num_key_value_heads"] = fields["num_attention_heads"]  # one latent for all heads
    return fields


def _has_sections(config: Any) -> bool:
    """Whether its rotary positions have three sections, which must fill a head."""
    name = type(config).__module__.replace("configuration_", "modeling_")
    try:
        source = inspect.getsource(importlib.import_module(name))
    except ImportError:
        return False
    return "mrope_section" in source and hasattr(config, "rope_parameters")


def _numbers(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(type(v) is int for v in value)


def _small(name: str, value: int) -> int | None:
    if KEPT.search(name):
        return None
    return next((min(value, small) for rule, small in SMALL if re.search(rule, name)), None)


def _small_list(name: str, value: Any, heads: Any) -> dict[str, Any]:
    if re.search(r"depths|num_blocks|layers$", name) and "layer" not in name[:5]:
        return {name: [1] * len(value)}
    if heads and re.search(r"hidden_sizes|embed_dims?|dims?$", name) and len(value) == len(heads):
        return {name: [8 * h for h in heads]}
    if re.search(r"image_size|img_size", name):
        return {name: [32] * len(value)}
    return {}


def model_of(kind: str, config: Any, attention: str | None = None) -> Any:
    """The family's model with weights that make uneven attention; always the same."""
    import transformers
    from transformers.models.auto import modeling_auto

    name = modeling_auto.MODEL_MAPPING_NAMES[kind]
    name = name if isinstance(name, str) else name[0]
    options = {} if attention is None else {"attn_implementation": attention}
    torch.manual_seed(1)
    with torch.device("meta"):
        size = sum(p.numel() for p in getattr(transformers, name)._from_config(config).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"the tiny model has {size:,} parameters")
    model = getattr(transformers, name)._from_config(config, **options).eval()
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                module.weight.normal_(std=0.15)
    return model.float()


def inputs_of(model: Any) -> Iterator[dict[str, Any]]:
    """Inputs that the model may take, likely ones first."""
    takes = set(inspect.signature(model.forward).parameters)
    main = model.main_input_name
    config = model.config
    text = getattr(config, "text_config", None) or config
    torch.manual_seed(2)
    ids = torch.randint(100, 150, (2, 9)) % max(getattr(text, "vocab_size", 160) or 160, 2)
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[1, 6:] = 0
    tail = _tail(takes, ids)
    if "input_ids" in takes and main == "input_ids":
        yield {"input_ids": ids} | _only(takes, attention_mask=mask) | tail
        if "pixel_values" in takes:
            for pixels in _pixels(config):
                yield {"input_ids": ids, "pixel_values": pixels} | _only(takes, attention_mask=mask)
        yield {"input_ids": ids} | tail
        yield {"input_ids": ids}
    if "grid_thw" in takes or "image_grid_thw" in takes:
        yield from _patches(model, takes)
    if main.startswith("pixel"):
        for pixels in _pixels(config):
            if "input_ids" in takes:
                yield {main: pixels, "input_ids": ids}
            yield {main: pixels} | tail
    if main in ("input_features", "input_values", "input_embeds", "audio_values", "inputs"):
        for sound in _sounds(config):
            yield {main: sound} | tail
            if "input_ids" in takes:
                yield {main: sound, "input_ids": ids}
    for name in (
        "pixel_values",
        "input_features",
        "input_values",
        "inputs_embeds",
        "hidden_states",
    ):
        if name in takes and name != main:
            for tensor in (*_pixels(config), *_sounds(config)):
                yield {name: tensor} | tail


def _only(takes: set[str], **given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in takes}


def _tail(takes: set[str], ids: Tensor) -> dict[str, Any]:
    boxes = torch.tensor([1, 2, 5, 7]).expand(2, 9, 4)
    return _only(
        takes,
        decoder_input_ids=ids[:, :7],
        bbox=boxes,
        input_features_mask=torch.ones(2, 24, dtype=torch.long),
    )


def _pixels(config: Any) -> list[Tensor]:
    vision = getattr(config, "vision_config", None) or config
    size = getattr(vision, "image_size", 32) or 32
    size = size if isinstance(size, int) else size[0]
    channels = getattr(vision, "num_channels", 3) or 3
    frames = getattr(vision, "num_frames", 2) or 2
    shapes = [(2, channels, size, size), (2, frames, channels, size, size), (2, 3, 64, 64)]
    return [torch.randn(shape) for shape in shapes]


def _patches(model: Any, takes: set[str]) -> Iterator[dict[str, Any]]:
    """One or two images as rows of patches, and how many there are of each."""
    config: Any = getattr(model.config, "vision_config", None) or model.config
    size, frames = config.patch_size, getattr(config, "temporal_patch_size", 1)
    channels: Any = getattr(config, "in_channels", None) or getattr(config, "num_channels", 3)
    grid = torch.tensor([[1, 4, 4], [1, 4, 2]])
    first = next(name for name in takes if name in ("hidden_states", "pixel_values"))
    yield {first: torch.randn(16, channels * frames * size**2), "grid_thw": grid[:1]}
    yield {first: torch.randn(24, channels * frames * size**2), "grid_thw": grid}


def _sounds(config: Any) -> list[Tensor]:
    audio = getattr(config, "audio_config", None) or config
    names = ("num_mel_bins", "feature_size", "input_feat_per_channel", "d_model", "hidden_size")
    sizes = [s for s in (getattr(audio, n, None) for n in names) if isinstance(s, int)]
    shapes: list[tuple[int, ...]] = [(2, 4000), (2, 1, 4000)]
    for size in sizes:
        time = 2 * (getattr(audio, "max_source_positions", None) or 32)
        shapes += [(2, size, time), (2, 24, size), (2, size, 24)]
    return [torch.randn(shape) for shape in shapes]
