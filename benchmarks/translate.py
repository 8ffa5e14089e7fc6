"""Training and decoding speed of the translators, beside their peers, in one run.

    python benchmarks/translate.py [--threads 1] [--rounds 5] [--batches 1 8 64] [--file german.txt]
    python benchmarks/translate.py --variant avx2            (CTranslate2 is held to AVX2 as well)
    python benchmarks/translate.py --pairs deu.txt.gz        (BLEU of each engine as well)

Training: the same shape, batches, dropout and loss as a plain ``nn.Transformer`` loop; tokens/s,
source and target counted. Decoding: the shipped Transformer, beam 5, beside CTranslate2 and Hugging
Face's `generate` on the same weights (`regard export`), and on how many sentences they say the
same. Every engine is given tokens, in the same batches. "regard" multiplies the shipped weights of
8 bits as they are, "regard, float32" as 32 bits, "modules" is PyTorch's path. With --pairs, BLEU of
held-out Tatoeba pairs. Then the shipped recurrent translators beside their own modules.

Goals: level with CTranslate2's float32, and at least two thirds of the speed of its int8.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
import torch.nn.functional as F
from goals import Goal, tell
from heldout import held_out
from kernel import HELD
from timing import interleaved
from torch import Tensor, nn

from regard.attention.kernel.library import SWITCH as KERNEL
from regard.attention.kernel.library import found
from regard.attention.kernel.weights import SWITCH
from regard.models.translators.base import Translator
from regard.models.translators.beam import translate_batch
from regard.models.translators.builder import build
from regard.models.translators.config import sized
from regard.pieces.tokenizer import EOS, PAD, Tokenizer
from regard.store.exchange.export import export
from regard.store.shipped import find_translator
from regard.train.data.pairs import Pair
from regard.train.tasks.metrics import bleu
from regard.vectors.positions import sinusoidal

VOCABULARY, BEAM, SENTENCES = 4000, 5, 64
EVERYDAY = Path(__file__).parents[1] / "tests" / "store" / "everyday.tsv"
RECURRENT = ("bahdanau", "encoder-decoder", "word-by-word")
LEVEL, INT8 = 1.0, 2 / 3
"""Goals: regard / CTranslate2 in float32, and in 8 bits."""
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


@dataclass(frozen=True)
class Sentences:
    """What is translated, cut by the model's tokenizer: those of one batch have like lengths."""

    ids: list[list[int]]
    batch: int

    def __iter__(self) -> Iterator[list[list[int]]]:
        return (self.ids[i : i + self.batch] for i in range(0, len(self.ids), self.batch))


def read_sentences(path: str, tokens: Tokenizer) -> list[list[int]]:
    """The first column of a file's lines as tokens with their end mark, the shortest first."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    texts = [line.partition("\t")[0] for line in lines if line.strip()][:SENTENCES]
    return sorted(([*tokens.encode(text), EOS] for text in texts), key=len)


Said = list[list[int]]


def of_regard(model: Translator, weights: str, sentences: Sentences) -> Said:
    os.environ[SWITCH] = weights
    said = []
    for rows in sentences:
        lengths = torch.tensor([len(row) for row in rows])
        source = torch.full((len(rows), int(lengths.max())), PAD)
        for line, row in zip(source, rows, strict=True):
            line[: len(row)] = torch.tensor(row)
        said += [found.ids for found in translate_batch(model, source, lengths, beam=BEAM)]
    return said


def of_modules(model: Translator, sentences: Sentences) -> Said:
    """Without the kernel."""
    before = os.environ.get(KERNEL)
    os.environ[KERNEL] = "off"
    try:
        return of_regard(model, "", sentences)
    finally:
        if before is None:
            del os.environ[KERNEL]
        else:
            os.environ[KERNEL] = before


def of_huggingface(folder: str) -> Callable[[Sentences], Said]:
    """Hugging Face's generate, on the model as ``regard export`` writes it."""
    from transformers import AutoModelForSeq2SeqLM

    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()

    def translate(sentences: Sentences) -> Said:
        said = []
        for rows in sentences:
            longest = max(map(len, rows))
            source = torch.tensor([row + [PAD] * (longest - len(row)) for row in rows])
            ids = model.generate(
                input_ids=source, attention_mask=(source != PAD).long(), num_beams=BEAM
            )
            ends = [[*row[1:], EOS] for row in ids.tolist()]
            said += [row[: row.index(EOS)] for row in ends]
        return said

    return translate


def of_ctranslate2(folder: str, kind: str, tokens: Tokenizer) -> Callable[[Sentences], Said]:
    """CTranslate2 with weights of this ``kind``, on the model as ``regard export`` writes it."""
    import ctranslate2

    threads = torch.get_num_threads()
    engine = ctranslate2.Translator(folder, compute_type=kind, intra_threads=threads)

    def translate(sentences: Sentences) -> Said:
        said = []
        for rows in sentences:
            pieces = [tokens.pieces(row[:-1]) for row in rows]  # it adds the end mark itself
            for one in engine.translate_batch(pieces, beam_size=BEAM):
                said.append([tokens.tokenizer.token_to_id(t) for t in one.hypotheses[0]])
        return said

    return translate


Engines = dict[str, Callable[[Sentences], Said]]


def print_bleu(engines: Engines, pairs: list[Pair], tokens: Tokenizer) -> None:
    """BLEU of each engine, batch 64, and on how many sentences it says what the first says."""
    pairs = sorted(pairs, key=lambda pair: len(tokens.encode(pair.source)))
    sentences = Sentences([[*tokens.encode(pair.source), EOS] for pair in pairs], 64)
    print(f"\n{len(pairs):,} held-out pairs, beam {BEAM}           BLEU   the same")
    first: Said = []
    for name, engine in engines.items():
        said = engine(sentences)
        first = first or said
        same = sum(a == b for a, b in zip(first, said, strict=True))
        score = bleu([tokens.decode(row) for row in said], [pair.target for pair in pairs])
        print(f"  {name:<38} {score.value:>8.2f}   {same:>6,}")


def decode(options: argparse.Namespace, folder: str) -> list[Goal]:
    """Print the sentences a second of each engine, and on how many it says what regard says."""
    model, tokens = find_translator("transformer")
    ids = read_sentences(options.file, tokens)
    engines: Engines = {
        "regard": partial(of_regard, model, ""),
        "regard, float32": partial(of_regard, copy.deepcopy(model), "float32"),
        "regard, modules": partial(of_modules, model),
    }
    if importlib.util.find_spec("ctranslate2"):
        export("transformer", "ctranslate2", f"{folder}/ctranslate2")
        for kind in ("float32", "int8"):
            engine = of_ctranslate2(f"{folder}/ctranslate2", kind, tokens)
            engines[f"CTranslate2, {kind}"] = engine
    if options.huggingface:
        export("transformer", "huggingface", f"{folder}/huggingface")
        engines["Hugging Face generate"] = of_huggingface(f"{folder}/huggingface")
    goals = []
    for batch in options.batches:
        speeds = compare("transformer", engines, Sentences(ids, batch), options.rounds)
        goals += goals_of(options, batch, speeds)
    if options.pairs:
        print_bleu(engines, held_out(options.pairs, "test", 100_000, 0), tokens)
    return goals


def goals_of(options: argparse.Namespace, batch: int, speeds: dict[str, float]) -> list[Goal]:
    """regard beside CTranslate2, at one batch; an engine that has no speed was not measured."""
    found = []
    for ours, theirs, least in (
        ("regard, float32", "CTranslate2, float32", LEVEL),
        ("regard", "CTranslate2, int8", INT8),
    ):
        what = f"decoding of the Transformer{options.held}, batch {batch}, {ours} / {theirs}"
        ratio = speeds[ours] / speeds[theirs] if theirs in speeds else None
        found.append(Goal(what, ratio, round(least, 3), " x"))
    return found


def compare(model: str, engines: Engines, sentences: Sentences, rounds: int) -> dict[str, float]:
    """Sentences a second of each engine."""
    own = engines["regard"](sentences)
    ways = {name: partial(engine, sentences) for name, engine in engines.items()}
    times = interleaved(ways, rounds=rounds)
    count = len(sentences.ids)
    print(f"\n{model}, {count} sentences, beam {BEAM}, batch {sentences.batch}")
    print("                             sentences/s   regard is   the same")
    for name, taken in times.items():
        same = sum(a == b for a, b in zip(own, engines[name](sentences), strict=True))
        print(
            f"  {name:<24} {count / taken.least:>14,.1f}   "
            f"{taken.least / times['regard'].least:>7.2f} x   {same:>4} of {count}",
            flush=True,
        )
    return {name: count / taken.least for name, taken in times.items()}


def decode_recurrent(options: argparse.Namespace) -> None:
    """Print the same of the recurrent translators beside their modules."""
    for name in RECURRENT:
        model, tokens = find_translator(name)
        ids = read_sentences(options.file, tokens)
        engines: Engines = {
            "regard": partial(of_regard, model, ""),
            "regard, float32": partial(of_regard, copy.deepcopy(model), "float32"),
            "regard, modules": partial(of_modules, model),
        }
        for batch in options.batches:
            compare(name, engines, Sentences(ids, batch), options.rounds)


def train(options: argparse.Namespace) -> None:
    """Print the tokens a second of training, regard beside a plain loop."""
    config = sized("transformer", "small", VOCABULARY)
    shape = {n: getattr(config, n) for n in ("width", "layers", "heads", "feedforward")}
    ours = build(config)
    plain = Plain(config.width, config.heads, config.feedforward, config.layers)
    data = batches()
    speeds = {"regard": 0.0, "nn.Transformer loop": 0.0}
    for _ in range(options.rounds):
        speed = train_once(lambda b: ours.loss(*b, smoothing=0.1).total, ours, data)
        speeds["regard"] = max(speeds["regard"], speed)
        speed = train_once(lambda b: plain.loss(*b), plain, data)
        speeds["nn.Transformer loop"] = max(speeds["nn.Transformer loop"], speed)
    print(f"\ntraining, forward and backward, {shape}")
    print("                                           tokens/s   regard is")
    for name, speed in speeds.items():
        print(f"  {name:<38} {speed:>10,.0f}   {speeds['regard'] / speed:>8.2f} x")


def hold(variant: str) -> None:
    """Begin anew with everything held to a variant's instructions: libraries ask when they load."""
    held = {KERNEL: variant, "CT2_FORCE_CPU_ISA": variant.upper(), **HELD.get(variant, {})}
    if any(os.environ.get(name) != value for name, value in held.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **held})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--variant", default="", choices=["", "avx2", "avx512"])
    parser.add_argument("--file", default=str(EVERYDAY))
    parser.add_argument("--pairs", help="Tatoeba's German-English pairs, for BLEU")
    parser.add_argument("--no-training", dest="training", action="store_false")
    parser.add_argument("--no-huggingface", dest="huggingface", action="store_false")
    parser.add_argument("--no-recurrent", dest="recurrent", action="store_false")
    options = parser.parse_args()
    if options.variant:
        hold(options.variant)
    options.held = f", {options.variant}" if options.variant else ""
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    print(f"{options.threads} threads, best of {options.rounds} rounds, interleaved")
    it = found()
    print(f"kernel: {it if isinstance(it, str) else it.variant}")
    if options.variant and isinstance(it, str):  # nothing can be held to what is not there
        return tell(goal for batch in options.batches for goal in goals_of(options, batch, {}))
    if options.training:
        train(options)
    with tempfile.TemporaryDirectory() as folder:
        goals = decode(options, folder)
    if options.recurrent:
        decode_recurrent(options)
    return tell(goals)


if __name__ == "__main__":
    raise SystemExit(main())
