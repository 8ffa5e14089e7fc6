"""The shipped Transformer in three other libraries: the same translations, and how fast.

    python benchmarks/export.py [--model transformer] [--file german.txt] [--threads 1]

Each line of the file (by default the first column of tests/store/everyday.tsv) is translated with
beam 5 by regard, by Hugging Face's generate, by CTranslate2, and greedily through ONNX; printed are
the lines on which a library says something else, and the seconds.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from regard.models.translators.translation import translate_texts
from regard.pieces.tokenizer import BOS, EOS, PAD, Tokenizer
from regard.store.exchange.export import export
from regard.store.shipped import find_translator

EVERYDAY = Path(__file__).parents[1] / "tests" / "store" / "everyday.tsv"
Translate = Callable[[list[str]], list[str]]


def huggingface(folder: str, tokens: Tokenizer) -> Translate:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()

    def translate(texts: list[str]) -> list[str]:
        with torch.no_grad():
            ids = model.generate(**tokenizer(texts, return_tensors="pt", padding=True))
        said: list[str] = tokenizer.batch_decode(ids, skip_special_tokens=True)
        return said

    return translate


def ctranslate2(folder: str, tokens: Tokenizer) -> Translate:
    import ctranslate2

    engine = ctranslate2.Translator(folder, intra_threads=torch.get_num_threads())

    def translate(texts: list[str]) -> list[str]:
        sources = [tokens.pieces(tokens.encode(text)) for text in texts]
        found = [one.hypotheses[0] for one in engine.translate_batch(sources, beam_size=5)]
        return [tokens.decode([tokens.tokenizer.token_to_id(t) for t in one]) for one in found]

    return translate


def onnx(folder: str, tokens: Tokenizer) -> Translate:
    import onnxruntime

    sessions = [
        onnxruntime.InferenceSession(f"{folder}/{name}.onnx") for name in ("encoder", "decoder")
    ]

    def translate(texts: list[str]) -> list[str]:
        ids = [[*tokens.encode(text), EOS] for text in texts]
        longest = max(map(len, ids))
        source = np.array([row + [PAD] * (longest - len(row)) for row in ids])
        given = {"source_mask": (source != PAD).astype(np.int64)}
        given["memory"] = sessions[0].run(None, {"source": source, **given})[0]
        target = np.full((len(ids), 1), BOS)
        while target.shape[1] < 2 * longest + 10 and not (target == EOS).any(-1).all():
            logits = sessions[1].run(None, {"target": target, **given})[0][:, -1]
            logits[:, [PAD, BOS]] = -np.inf
            target = np.concatenate((target, logits.argmax(-1)[:, None]), -1)
        rows = [[*row[1:], EOS] for row in target.tolist()]
        return [tokens.decode(row[: row.index(EOS)]) for row in rows]

    return translate


LIBRARIES = {"huggingface": (huggingface, 5), "ctranslate2": (ctranslate2, 5), "onnx": (onnx, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="transformer")
    parser.add_argument("--file", default=str(EVERYDAY))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    lines = Path(options.file).read_text(encoding="utf-8").splitlines()
    texts = [line.partition("\t")[0] for line in lines if line.strip()]
    model, tokens = find_translator(options.model)
    for to, (library, beam) in LIBRARIES.items():
        began = time.perf_counter()
        ours = [t.text for t in translate_texts(model, tokens, texts, beam=beam)]
        own = time.perf_counter() - began
        with tempfile.TemporaryDirectory() as folder:
            export(options.model, to, f"{folder}/model")
            translate = library(f"{folder}/model", tokens)
            began = time.perf_counter()
            theirs = translate(texts)
            taken = time.perf_counter() - began
        other = [i for i, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
        print(
            f"{to:12} beam {beam}: {len(texts) - len(other)} of {len(texts)} the same; "
            f"{taken:.2f} s, regard {own:.2f} s"
        )
        for i in other[:5]:
            print(f"    {texts[i]}\n        regard: {ours[i]}\n        {to}: {theirs[i]}")


if __name__ == "__main__":
    main()
