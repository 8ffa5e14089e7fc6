"""CTranslate2: a translator as a model of OpenNMT's engine, https://opennmt.net/CTranslate2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from regard.attention import MultiHeadAttention
from regard.errors import MissingExtraError
from regard.models.layers import DecoderLayer, TransformerLayer
from regard.models.translators.transformer import Transformer
from regard.pieces.tokenizer import BOS, EOS, PAD, SPECIAL, UNK, Tokenizer
from regard.vectors.positions import sinusoidal

POSITIONS = 1024
NEVER = -1e4
"""Added to the score of what is never said: the engine has no list of such tokens in a model."""
USE = """\
```python
import ctranslate2
from tokenizers import Tokenizer

tokens, model = Tokenizer.from_file("tokenizer.json"), ctranslate2.Translator(".")
source = tokens.encode("…").tokens
best = model.translate_batch([source], beam_size=5)[0].hypotheses[0]
print(tokens.decode([tokens.token_to_id(token) for token in best]))
```"""


def write(folder: Path, model: Transformer, tokens: Tokenizer) -> None:
    """Write the model's files into ``folder``; text is cut by its tokenizer.json."""
    try:
        from ctranslate2.specs import common_spec, transformer_spec
    except ImportError as error:
        raise MissingExtraError("--to ctranslate2", "ctranslate2") from error
    config = model.config
    spec = transformer_spec.TransformerSpec.from_config(
        config.layers,
        config.heads,
        pre_norm=config.norm == "pre",
        activation=_activation(common_spec.Activation, config.activation),
    )
    _set_stack(spec.encoder, model.encoder, model.encoder_norm, config.width)
    _set_stack(spec.decoder, model.decoder, model.decoder_norm, config.width)
    vocabulary = model.vocabulary
    tied = config.tied
    spec.encoder.embeddings[0].weight = _array(
        vocabulary.words if tied else vocabulary.source_words
    )
    spec.decoder.embeddings.weight = _array(vocabulary.words if tied else vocabulary.target_words)
    spec.decoder.projection.weight = _array(vocabulary.output)
    bias = _array(vocabulary.bias)
    bias[[PAD, BOS]] += NEVER
    spec.decoder.projection.bias = bias
    names = tokens.pieces(range(len(tokens)))
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.config.unk_token, spec.config.bos_token = SPECIAL[UNK], SPECIAL[BOS]
    spec.config.eos_token = SPECIAL[EOS]
    spec.config.add_source_eos = True
    spec.validate()
    spec.save(str(folder))
    tokens.save(folder / "tokenizer.json")


def _activation(known: Any, name: str) -> Any:
    """Theirs: x · sigmoid(x) is Swish to them."""
    return known.SWISH if name == "silu" else known.RELU


def _set_stack(spec: Any, layers: nn.ModuleList, norm: nn.Module, width: int) -> None:
    """An encoder's or a decoder's layers, positions and last norm."""
    spec.scale_embeddings = True
    spec.position_encodings.encodings = sinusoidal(POSITIONS, width).numpy()
    if isinstance(norm, nn.LayerNorm):
        _set_norm(spec.layer_norm, norm)
    for theirs, layer in zip(spec.layer, layers, strict=True):
        assert isinstance(layer, TransformerLayer)
        _set_attention(theirs.self_attention, layer.attention, layer.attention_norm, own=True)
        if isinstance(layer, DecoderLayer):
            _set_attention(theirs.attention, layer.cross, layer.cross_norm, own=False)
        _set_norm(theirs.ffn.layer_norm, layer.feedforward_norm)
        _set_linear(theirs.ffn.linear_0, layer.feedforward.inner)
        _set_linear(theirs.ffn.linear_1, layer.feedforward.outer)


def _set_attention(spec: Any, attention: MultiHeadAttention, norm: nn.LayerNorm, own: bool) -> None:
    """Self-attention has queries, keys and values in one matrix; cross-attention the last two."""
    _set_norm(spec.layer_norm, norm)
    query, key, value = attention.query, attention.key, attention.value
    joined = [(query, key, value)] if own else [(query,), (key, value)]
    for theirs, parts in zip(spec.linear, joined, strict=False):
        _set_linear(theirs, *parts)
    _set_linear(spec.linear[-1], attention.output)


def _set_linear(spec: Any, *linears: nn.Linear) -> None:
    spec.weight = np.concatenate([_array(linear.weight) for linear in linears])
    spec.bias = np.concatenate([_array(linear.bias) for linear in linears])


def _set_norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _array(weight: Tensor) -> np.ndarray[Any, np.dtype[np.float32]]:
    return weight.detach().float().cpu().numpy().copy()
