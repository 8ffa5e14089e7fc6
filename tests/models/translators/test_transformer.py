from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard import MultiHeadAttention, record
from regard.errors import ConfigError
from regard.models.layers import DecoderLayer, EncoderLayer
from regard.models.translators.config import sized
from regard.models.translators.transformer import Transformer, TransformerState
from tests.models.batch import batch, model
from tests.models.torchtwin import copy_layer


def torch_twin(made: Transformer) -> tuple[nn.TransformerEncoder, nn.TransformerDecoder]:
    """PyTorch's encoder and decoder of the same shape and weights."""
    c = made.config
    shape: dict[str, Any] = {"d_model": c.width, "nhead": c.heads, "dropout": 0.0}
    shape |= {"dim_feedforward": c.feedforward}
    shape |= {"batch_first": True, "norm_first": c.norm == "pre", "dtype": torch.float64}
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(**shape), c.layers, enable_nested_tensor=False
    )
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**shape), c.layers)
    for ours, theirs in ((made.encoder, encoder.layers), (made.decoder, decoder.layers)):
        for one, other in zip(ours, theirs, strict=True):
            assert isinstance(one, EncoderLayer | DecoderLayer)
            copy_layer(one, other)
    if c.norm == "pre":
        encoder.norm, decoder.norm = made.encoder_norm, made.decoder_norm
    return encoder.eval(), decoder.eval()


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("padded", [True, False])
def test_equals_pytorchs_transformer_with_the_same_weights(norm: str, padded: bool) -> None:
    made = model("transformer", norm=norm)
    b = batch() if padded else batch((5, 5, 5), (4, 4, 4))
    assert isinstance(made, Transformer)
    encoder, decoder = torch_twin(made)
    x = math.sqrt(10) * made.vocabulary.source(b.source) + made.positions.rows(b.source.shape[1])
    y = math.sqrt(10) * made.vocabulary.target(b.target) + made.positions.rows(b.target.shape[1])
    padding = torch.arange(b.source.shape[1]) >= b.source_lengths.unsqueeze(-1)
    ahead = torch.ones(y.shape[1], y.shape[1], dtype=torch.bool).triu(1)
    memory = encoder(x, src_key_padding_mask=padding)
    out = decoder(y, memory, tgt_mask=ahead, memory_key_padding_mask=padding)
    expected = made.vocabulary.logits(out)
    torch.testing.assert_close(made(*b[:3]), expected, rtol=0, atol=1e-10)


def test_tied_words_are_one_matrix_in_three_places() -> None:
    tied = Transformer(sized("transformer", "tiny", 31))
    words = [name for name, p in tied.named_parameters() if p.shape == (31, 80)]
    assert words == ["vocabulary.words"]


def test_built_from_regards_attention() -> None:
    made = model("transformer")
    attentions = [part for part in made.modules() if isinstance(part, MultiHeadAttention)]
    assert len(attentions) == 3 * made.config.layers


def test_record_names_layers_and_attentions() -> None:
    made, b = model("transformer", layers=2), batch()
    fast = made(*b[:3])
    with record() as trace:
        explained = made(*b[:3])
    torch.testing.assert_close(fast, explained, rtol=0, atol=1e-10)
    assert [step.scope for step in trace if step.name == "weights"] == [
        "encoder layer 0/self-attention",
        "encoder layer 1/self-attention",
        "decoder layer 0/self-attention",
        "decoder layer 0/cross-attention",
        "decoder layer 1/self-attention",
        "decoder layer 1/cross-attention",
    ]
    cross = trace["decoder layer 1/cross-attention/weights"]
    assert cross.axes == ("batch", "head", "query", "key")
    assert cross.value.shape == (4, 2, 6, 5)


def test_step_returns_the_last_layers_cross_attention_or_the_chosen_one() -> None:
    made, b = model("transformer"), batch()
    with record() as trace:
        made(*b[:3])

    def looked(**choice: int) -> np.ndarray:
        state = made.start(b.source, b.source_lengths, **choice)
        steps = [made.step(state, b.target[:, t]).weights for t in range(3)]
        return torch.stack([w for w in steps if w is not None], 1).detach().numpy()

    def noted(layer: int) -> np.ndarray:
        return trace[f"decoder layer {layer}/cross-attention/weights"].value[:, :, :3]

    np.testing.assert_allclose(looked(), noted(2).mean(1), atol=1e-10)
    np.testing.assert_allclose(looked(layer=0), noted(0).mean(1), atol=1e-10)
    np.testing.assert_allclose(looked(head=1), noted(2)[:, 1], atol=1e-10)
    np.testing.assert_allclose(looked(layer=1, head=0), noted(1)[:, 0], atol=1e-10)


def test_a_layer_or_head_that_is_not_there() -> None:
    made, b = model("transformer"), batch()
    with pytest.raises(ConfigError, match="layer must be from 0 to 2, got 3"):
        made.start(b.source, b.source_lengths, layer=3)
    with pytest.raises(ConfigError, match="head must be from 0 to 1, got -1"):
        made.start(b.source, b.source_lengths, head=-1)


def test_beams_share_the_keys_of_the_source() -> None:
    made, b = model("transformer"), batch()
    state = made.start(b.source, b.source_lengths)
    made.step(state, b.target[:, 0])
    assert isinstance(state, TransformerState)
    keys = state.cross[0].keys
    state.select(torch.arange(4).unsqueeze(-1).expand(-1, 5))
    made.step(state, b.target[:, 0].repeat_interleave(5))
    assert state.cross[0].keys is keys
