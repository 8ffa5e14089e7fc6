"""Training and decoding speed of the Transformer translator, beside its peers, in one run.

    python benchmarks/translate.py [--threads 1] [--rounds 5]

Training: the same shape, batches, dropout and loss as a plain ``nn.Transformer`` loop; tokens/s,
source and target counted. Decoding: beam 5, the same shape and sources as Hugging Face `generate`
on a Marian model, and CTranslate2 on that Marian model if it is installed. Weights are random, so
that every hypothesis runs to the same length and both sides do the same number of steps.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import tempfile
import time
import warnings
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.translators.base import Translator
from regard.models.translators.beam import translate_batch
from regard.models.translators.builder import build
from regard.models.translators.config import sized
from regard.vectors.positions import sinusoidal

VOCABULARY, LONGEST, BEAM, SENTENCES = 4000, 14, 5, 64
Batch = tuple[Tensor, Tensor, Tensor, Tensor]


class Plain(nn.Module):
    """What a person writes first: nn.Transformer, an embedding, a tied output."""

    positions: Tensor

    def __init__(self, width: int, heads: int, feedforward: int, layers: int) -> None:
        super().__init__()
        self.width = width
        self.embed = nn.Embedding(VOCABULARY, width)
        self.body = nn.Transformer(
            width, heads, layers, layers, feedforward, 0.1, batch_first=True, norm_first=True
        )
        self.drop = nn.Dropout(0.1)
        self.register_buffer("positions", sinusoidal(256, width))

    def enter(self, ids: Tensor) -> Tensor:
        vectors = self.embed(ids) * math.sqrt(self.width)
        entered: Tensor = self.drop(vectors + self.positions[: ids.shape[1]])
        return entered

    def loss(self, source: Tensor, _: Tensor, target: Tensor, __: Tensor) -> Tensor:
        padded, before = source == 0, target[:, :-1]
        mask = nn.Transformer.generate_square_subsequent_mask(before.shape[1])
        states = self.body(
            self.enter(source),
            self.enter(before),
            tgt_mask=mask,
            src_key_padding_mask=padded,
            memory_key_padding_mask=padded,
            tgt_is_causal=True,
        )
        logits = F.linear(states, self.embed.weight)
        return F.cross_entropy(
            logits.flatten(0, 1),
            target[:, 1:].flatten(),
            ignore_index=0,
            label_smoothing=0.1,
            reduction="sum",
        )


def batches(tokens: int = 4096) -> list[Batch]:
    """Batches as length buckets give them: sources of one length or one less, targets ± 3."""
    made = []
    for length in range(6, 18, 2):
        rows = tokens // (length + 2)
        sources = torch.randint(length - 1, length + 1, (rows,))
        targets = (sources + torch.randint(-3, 4, (rows,))).clamp(3, length + 4) + 1
        source = torch.randint(4, VOCABULARY, (rows, length))
        target = torch.randint(4, VOCABULARY, (rows, int(targets.max())))
        source[torch.arange(length) >= sources.unsqueeze(-1)] = 0
        target[torch.arange(target.shape[1]) >= targets.unsqueeze(-1)] = 0
        target[:, 0] = 2
        made.append((source, sources, target, targets))
    return made


def train_once(loss: Callable[[Batch], Tensor], model: nn.Module, data: list[Batch]) -> float:
    """Tokens/s of forward and backward over the batches."""
    began, tokens = time.perf_counter(), 0
    for batch in data:
        model.zero_grad()
        loss(batch).backward()
        tokens += int(batch[1].sum()) + int((batch[3] - 1).sum())
    return tokens / (time.perf_counter() - began)


def marian(shape: dict[str, int]) -> nn.Module:
    """A Marian model of the same shape with random weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import MarianConfig, MarianMTModel

        config = MarianConfig(
            vocab_size=VOCABULARY,
            d_model=shape["width"],
            encoder_layers=shape["layers"],
            decoder_layers=shape["layers"],
            encoder_attention_heads=shape["heads"],
            decoder_attention_heads=shape["heads"],
            encoder_ffn_dim=shape["feedforward"],
            decoder_ffn_dim=shape["feedforward"],
            activation_function="relu",
            pad_token_id=0,
            eos_token_id=3,
            bos_token_id=2,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
        )
        peer: nn.Module = MarianMTModel(config)
        return peer.eval()


def decoders(ours: Translator, peer: nn.Module) -> dict[str, Callable[[], object]]:
    """Name → a call that translates all sentences once."""
    lengths = torch.randint(6, 16, (SENTENCES,))
    source = torch.randint(4, VOCABULARY, (SENTENCES, int(lengths.max())))
    real = torch.arange(source.shape[1]) < lengths.unsqueeze(-1)
    source[~real] = 0
    calls: dict[str, Callable[[], object]] = {
        "regard": lambda: translate_batch(ours, source, lengths, beam=BEAM, max_length=LONGEST),
        "Hugging Face generate": lambda: peer.generate(  # type: ignore[operator]
            input_ids=source,
            attention_mask=real.long(),
            num_beams=BEAM,
            max_new_tokens=LONGEST,
            min_new_tokens=LONGEST,
            do_sample=False,
        ),
    }
    if importlib.util.find_spec("ctranslate2"):
        calls["CTranslate2 (float32)"] = ctranslate2_call(peer, source, lengths)
    return calls


def ctranslate2_call(peer: nn.Module, source: Tensor, lengths: Tensor) -> Callable[[], object]:
    """CTranslate2 on a specification made from the same Marian weights."""
    import ctranslate2
    from ctranslate2.converters.transformers import BartLoader, MarianMTLoader  # noqa: F401

    folder = tempfile.mkdtemp()
    loader = MarianMTLoader()
    spec = loader.get_model_spec(peer)
    words = [f"t{i}" for i in range(VOCABULARY)]
    words[0], words[1], words[2], words[3] = "<pad>", "<unk>", "<s>", "</s>"
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.decoder_start_token = "<s>"
    spec.validate()
    spec.save(folder)
    engine = ctranslate2.Translator(folder, intra_threads=torch.get_num_threads())
    rows = [
        [words[i] for i in ids[:n]]
        for ids, n in zip(source.tolist(), lengths.tolist(), strict=True)
    ]
    return lambda: engine.translate_batch(
        rows,
        beam_size=BEAM,
        max_decoding_length=LONGEST,
        min_decoding_length=LONGEST,
        max_batch_size=SENTENCES,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    config = sized("transformer", "small", VOCABULARY)
    shape = {n: getattr(config, n) for n in ("width", "layers", "heads", "feedforward")}
    print(f"shape {shape}, {options.threads} threads, best of {options.rounds} rounds, interleaved")

    ours = build(config)
    plain = Plain(config.width, config.heads, config.feedforward, config.layers)
    data = batches()
    speeds = {"regard": 0.0, "nn.Transformer loop": 0.0}
    for _ in range(options.rounds):
        speed = train_once(lambda b: ours.loss(*b, smoothing=0.1).total, ours, data)
        speeds["regard"] = max(speeds["regard"], speed)
        speed = train_once(lambda b: plain.loss(*b), plain, data)
        speeds["nn.Transformer loop"] = max(speeds["nn.Transformer loop"], speed)
    print("\ntraining, forward and backward             tokens/s   regard is")
    for name, speed in speeds.items():
        print(f"  {name:<38} {speed:>10,.0f}   {speeds['regard'] / speed:>8.2f} x")

    best: dict[str, float] = {}
    with torch.no_grad():
        calls = decoders(ours.eval(), marian(shape))
        for _ in range(options.rounds):
            for name, call in calls.items():
                began = time.perf_counter()
                call()
                best[name] = min(best.get(name, math.inf), time.perf_counter() - began)
    print(f"\ndecoding, beam {BEAM}, {SENTENCES} sentences       sentences/s   regard is")
    for name, seconds in best.items():
        print(f"  {name:<38} {SENTENCES / seconds:>10,.1f}   {seconds / best['regard']:>8.2f} x")


if __name__ == "__main__":
    main()
