"""Transformer: attention alone. The encoder-decoder of Vaswani et al. (2017)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention import KeyValueCache, Mask, MultiHeadAttention, causal, padding
from regard.attention.kernel.stack import PackedStack, StackLayer
from regard.errors import ConfigError
from regard.models.dropout import Dropout
from regard.models.layers import DecoderLayer, EncoderLayer, FeedForward
from regard.models.norm import LayerNorm
from regard.models.padding import RealRows, pick, real_rows
from regard.models.positions import Positions
from regard.models.translators.base import Decoded, DecoderState, DecoderStep
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.native import NativeTranslator, PackedTranslator
from regard.models.translators.packing import word_tables
from regard.models.translators.pointer import Pointer
from regard.models.vocabulary import Vocabulary
from regard.record import scope


@dataclass(kw_only=True)
class TransformerState(DecoderState):
    """Keys and values of each decoder layer, of the source and of everything written so far.

    Both are held once a sentence. A hypothesis does not have its own copy of what it has written:
    ``seen`` says which of its sentence's written tokens are its own, so that following the best
    hypotheses moves a few booleans instead of all keys and values.
    """

    memory: Tensor
    mask: Mask | None
    own: list[KeyValueCache]
    cross: list[KeyValueCache]
    seen: Tensor | None = None
    """(sentences, beams, tokens written); None while each sentence has one hypothesis."""

    def select_sentences(self, rows: Tensor) -> None:
        self.memory = self.memory[rows]
        for cache in (*self.own, *self.cross):
            cache.select(rows)
        if self.mask is not None and self.mask.allowed is not None:
            self.mask = Mask(allowed=self.mask.allowed[rows])

    def select_hypotheses(self, rows: Tensor) -> None:
        if self.seen is not None:
            self.seen = self.seen.flatten(0, 1)[rows]
        elif rows.shape[1] > 1:
            written = torch.ones(1, dtype=torch.bool, device=rows.device)
            self.seen = written.expand(*rows.shape, self.position)

    def write(self) -> Mask:
        """Each hypothesis writes one more token: what each may see, itself included."""
        if self.seen is None:
            return causal()
        new = torch.eye(self.beams, dtype=torch.bool, device=self.seen.device)
        self.seen = torch.cat((self.seen, new.expand(self.sentences, -1, -1)), -1)
        return Mask(allowed=self.seen)


class Transformer(NativeTranslator):
    """Vaswani et al. (2017), section 3.

        x = sqrt(d) E w + PE                               words and sinusoidal positions
        encoder layer: self-attention, feed-forward
        decoder layer: causal self-attention, cross-attention to the encoder, feed-forward

    Each sublayer is added to its input: norm(x + sublayer(x)) ("post", the paper's), or
    x + sublayer(norm(x)) with one more norm at the end of each stack ("pre"). Dropout falls on
    the sums of words and positions and on each sublayer's output (section 5.4).
    """

    KNOWN = (
        *(DecoderLayer, Dropout, EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention),
        *(Positions, Vocabulary, nn.Identity, nn.LayerNorm, nn.Linear, nn.ModuleList),
    )

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__(config)
        width = config.width
        made = config, config.activation or "relu"
        self.encoder = nn.ModuleList(EncoderLayer(*made) for _ in range(config.layers))
        self.decoder = nn.ModuleList(DecoderLayer(*made) for _ in range(config.layers))
        last = config.norm == "pre"
        self.encoder_norm = nn.LayerNorm(width) if last else nn.Identity()
        self.decoder_norm = nn.LayerNorm(width) if last else nn.Identity()
        self.positions = Positions(width)
        self.pointer = Pointer(3 * width) if config.pointer else None

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Mask | None]:
        """The memory (B, S, width), and which of it is padding."""
        n = source.shape[1]
        rows = RealRows.of(real_rows(lengths, n), *source.shape)
        mask = None if int(lengths.min()) >= n else padding(lengths, n)
        x = self.dropout(rows.gather(self.positions(self.vocabulary.source(source))))
        for index, layer in enumerate(self.encoder):
            with scope(f"encoder layer {index}"):
                x = layer(x, rows, mask)
        return rows.spread(self.encoder_norm(x)), mask

    def decode(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Decoded:
        memory, mask = self.encode(source, source_lengths)
        own = RealRows.of(rows, *target.shape)
        x = words = self.dropout(own.gather(self.positions(self.vocabulary.target(target))))
        looked: list[Tensor] = []
        for index, layer in enumerate(self.decoder):
            last = self.pointer is not None and index == len(self.decoder) - 1
            with scope(f"decoder layer {index}"):
                x = layer(x, own, memory, mask, looked if last else None)
        x, words = (
            part if own.rows is rows else pick(own.spread(part), rows)
            for part in (self.decoder_norm(x), words)
        )
        if self.pointer is None:
            return Decoded(x)
        weights = looked[0].mean(1)
        every = source.unsqueeze(1).expand(-1, target.shape[1], -1)
        known = x, words, pick(weights @ memory, rows)
        return Decoded(x, self.pointer(known, pick(weights, rows), pick(every, rows)))

    def check_head(self, layer: int | None, head: int | None) -> None:
        layers, heads = self.config.layers, self.config.heads
        for what, asked, count in (("layer", layer, layers), ("head", head, heads)):
            if asked is not None and not 0 <= asked < count:
                raise ConfigError(f"{what} must be from 0 to {count - 1}, got {asked}")

    def packed(self, weights: str) -> PackedTranslator:
        config, vocabulary = self.config, self.vocabulary
        source, target = word_tables(vocabulary)
        shared: dict[str, Any] = {
            "heads": config.heads,
            "before": config.norm == "pre",
            "activation": config.activation or "relu",
            "scale": math.sqrt(config.width),
            "weights": weights,
        }
        cross = [layer.cross for layer in self.decoder if isinstance(layer, DecoderLayer)]
        memory = [linear for attention in cross for linear in (attention.key, attention.value)]
        encoder = PackedStack(
            [_packed_layer(layer) for layer in self.encoder],
            words=source,
            last=self.encoder_norm,
            out=[(linear.weight, linear.bias) for linear in memory],
            **shared,
        )
        decoder = PackedStack(
            [_packed_layer(layer) for layer in self.decoder],
            words=target,
            last=self.decoder_norm,
            out=[(vocabulary.output, vocabulary.bias)],
            **shared,
        )
        return PackedTranslator(encoder, decoder, self.positions, config.layers)

    def state_of(self, source: Tensor, source_lengths: Tensor) -> TransformerState:
        layers = self.config.layers
        memory, mask = self.encode(source, source_lengths)
        return TransformerState(
            sentences=source.shape[0],
            memory=memory,
            mask=mask,
            own=[KeyValueCache() for _ in range(layers)],
            cross=[KeyValueCache() for _ in range(layers)],
        )

    def step_of(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        assert isinstance(state, TransformerState)
        words = self.vocabulary.target(tokens).unsqueeze(1)
        words = self.dropout(self.positions(words, state.position))
        x = words = words.view(state.sentences, state.beams, -1)
        own, last = state.write(), len(self.decoder) - 1
        chosen = last if state.layer is None else state.layer
        looked: dict[int, Tensor] = {}
        for index, layer in enumerate(self.decoder):
            assert isinstance(layer, DecoderLayer)
            wanted = index == chosen or (index == last and self.pointer is not None)
            caches = state.own[index], state.cross[index]
            with scope(f"step {state.position}/decoder layer {index}"):
                x, seen = layer.step(x, own, state.memory, state.mask, caches, need_weights=wanted)
            if seen is not None:
                looked[index] = seen
        state.position += 1
        decoded = Decoded(self.decoder_norm(x).flatten(0, 1))
        if self.pointer is not None:
            mean = looked[last].mean(1)
            known = decoded.features, *(y.flatten(0, 1) for y in (words, mean @ state.memory))
            decoded = decoded._replace(
                pointed=self.pointer(known, mean.flatten(0, 1), state.sources())
            )
        weights = looked[chosen].mean(1) if state.head is None else looked[chosen][:, state.head]
        return DecoderStep(self.scores(decoded), weights.flatten(0, 1))


def _packed_layer(layer: nn.Module) -> StackLayer:
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    own = layer.attention
    cross = (layer.cross_norm, layer.cross) if isinstance(layer, DecoderLayer) else None
    return StackLayer(
        own_norm=layer.attention_norm,
        own=(own.query, own.key, own.value),
        own_out=own.output,
        cross_norm=cross and cross[0],
        query=cross and cross[1].query,
        cross_out=cross and cross[1].output,
        inner_norm=layer.feedforward_norm,
        inner=layer.feedforward.inner,
        outer=layer.feedforward.outer,
    )
