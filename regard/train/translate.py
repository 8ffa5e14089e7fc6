"""The task of translation: sentence pairs, a Translator, and BLEU of what it says greedily."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard import __version__
from regard.embed.tokens import Tokens
from regard.errors import ConfigError, MissingExtraError, RegardError, nearest
from regard.models.decode import translate_batch
from regard.models.translator import Translator, TranslatorConfig, build, sized
from regard.train.batches import Batch, Example, collate, plan
from regard.train.checkpoint import seed_all
from regard.train.config import PairsConfig, TrainConfig
from regard.train.corpus import (
    Corpus,
    learn_tokens,
    make_corpus,
    print_summary,
    read_text,
    summary,
)
from regard.train.curves import draw_curves
from regard.train.distributed import World, joined
from regard.train.folder import RunFolder
from regard.train.log import Log
from regard.train.loop import Loop, Outcome
from regard.train.metrics import bleu, chrf
from regard.train.pairs import write_pairs
from regard.train.progress import Progress
from regard.train.settings import Tree, complain, make, merged

RECIPES: dict[str, Tree] = {
    "word-by-word": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "encoder-decoder": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "bahdanau": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "lstmn-shallow": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "lstmn-deep": {"learning_rate": 3e-3, "warmup": 200, "batch_tokens": 2000},
    "transformer": {"learning_rate": 3e-3, "warmup": 400, "batch_tokens": 2000},
}
"""Settings of TrainConfig that suit a design, where the user says nothing."""
BASE_RECIPES: dict[str, Tree] = {
    "transformer": {"learning_rate": 7e-4, "warmup": 4000, "batch_tokens": 4000},
}
"""The same for size base: the Transformer paper's width**-0.5 · warmup**-0.5."""
USUAL_MODEL, USUAL_SIZE, USUAL_EPOCHS = "bahdanau", "small", 30


class Translation:
    """A translator in training, as the loop's :class:`~regard.train.task.Task`."""

    higher = True

    def __init__(self, model: Translator, corpus: Corpus, config: TrainConfig) -> None:
        self.model, self.corpus, self.config = model, corpus, config
        self.lengths = [_lengths(example) for example in corpus.train]
        self.counts = _predictions(model, corpus.train)
        self.valid_counts = _predictions(model, corpus.valid)
        # BLEU counts runs of four words: it is 0 for the best translation of shorter sentences.
        longest = max((len(p.target.split()) for p in corpus.text.parts.valid), default=0)
        self.score = "BLEU" if longest >= 4 else "chrF"

    def batches(self, epoch: int) -> list[list[int]]:
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return int(self.counts[rows].sum())

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss([self.corpus.train[row] for row in rows], smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss([self.corpus.valid[row] for row in rows], 0.0)

    def _loss(self, examples: list[Example], smoothing: float) -> Tensor:
        b = self._batch(examples)
        loss = self.model.loss(
            b.source, b.source_lengths, b.target, b.target_lengths, smoothing=smoothing
        )
        return loss.total

    def _batch(self, examples: list[Example]) -> Batch:
        return collate(examples).to(next(self.model.parameters()).device)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        lengths = [_lengths(example) for example in self.corpus.valid]
        limit = max(self.config.batch_tokens, *(max(each) for each in lengths))
        total = sum(float(forward(rows)) for rows in plan(lengths, limit))
        figures = {"loss": total / max(1, int(self.valid_counts.sum()))}
        if decode:
            most = min(len(lengths), self.config.validate_at_most)
            sample = np.linspace(0, len(lengths) - 1, most).astype(int).tolist()
            figures["score"] = self._score(sample, limit)
        return figures

    def _score(self, sample: list[int], limit: int) -> float:
        """BLEU (or chrF) of greedy translations of these validation pairs."""
        examples = [self.corpus.valid[i] for i in sample]
        said = [""] * len(sample)
        for rows in plan([(len(e.source) + 1,) for e in examples], limit):
            batch = self._batch([examples[row] for row in rows])
            found = translate_batch(self.model, batch.source, batch.source_lengths)
            for row, hypothesis in zip(rows, found, strict=True):
                said[row] = self.corpus.tokens.decode(hypothesis.ids)
        references = [self.corpus.text.parts.valid[i].target for i in sample]
        return (bleu if self.score == "BLEU" else chrf)(said, references).value


@dataclass(frozen=True)
class Settings:
    """All that the user decided, with what follows from it."""

    data: PairsConfig
    model: Tree
    """Settings of :class:`TranslatorConfig` and perhaps ``size``."""
    train: TrainConfig

    def translator(self, vocabulary: int) -> TranslatorConfig:
        """The model's config, once the vocabulary is known."""
        rest = {k: v for k, v in self.model.items() if k not in ("model", "size", "vocabulary")}
        if "vocabulary" in self.model:  # a saved config: complete
            own = {"model": self.model["model"], "vocabulary": vocabulary}
            return TranslatorConfig.from_dict(own | rest)
        size = self.model.get("size", USUAL_SIZE)
        return sized(self.model["model"], size, vocabulary, **rest)


def settle(tree: Tree) -> Settings:
    """Check a tree of settings, sections data, model and train; every problem at once."""
    sections = ("data", "model", "train")
    problems = [
        f"there is no section {name}{nearest(name, sections)}"
        for name in tree
        if name not in sections
    ]
    known = [field.name for field in fields(TranslatorConfig)] + ["size"]
    model = {"model": USUAL_MODEL} | tree.get("model", {})
    strange = [k for k in model if k not in known]
    problems += [f"there is no setting model.{k}{nearest(k, known)}" for k in strange]
    name = str(model["model"])
    base = BASE_RECIPES.get(name, {}) if model.get("size") == "base" else {}
    train = RECIPES.get(name, {}) | base | tree.get("train", {})
    if not any(train.get(limit) for limit in ("epochs", "steps", "minutes")):
        train["epochs"] = USUAL_EPOCHS
    data_config, data_problems = make(PairsConfig, tree.get("data", {}), "data")
    train_config, train_problems = make(TrainConfig, train, "train")
    problems += data_problems + train_problems
    if data_config and train_config and data_config.max_length + 2 > train_config.batch_tokens:
        problems.append(
            f"train.batch_tokens ({train_config.batch_tokens}) must hold a sentence of "
            f"data.max_length ({data_config.max_length}) tokens and 2 more"
        )
    if not strange:
        problems += _model_problems(model)
    complain(problems)
    assert data_config is not None
    assert train_config is not None
    return Settings(data_config, model, train_config)


def train_translator(
    settings: Tree,
    output: str,
    *,
    resume: bool = False,
    tensorboard: bool = False,
    progress: Progress | None = None,
) -> Outcome:
    """Train a translator into the run folder ``output``. Called by every process of a run."""
    began = time.monotonic()
    folder = RunFolder(output)
    with joined(str(settings.get("train", {}).get("device", "auto"))) as world:
        progress = progress if progress and world.main else Progress()
        if resume:
            settings = _resumed(world.from_main(folder.read_config), settings)
        else:
            world.from_main(folder.check_new)
        chosen = settle(settings)
        _check_able(chosen, world, tensorboard)
        if chosen.train.threads:
            torch.set_num_threads(chosen.train.threads)
        corpus = _corpus(chosen.data, folder, world)
        model_config = chosen.translator(len(corpus.tokens))
        config = {
            "task": "translate",
            "data": asdict(chosen.data),
            "model": model_config.to_dict(),
            "train": asdict(chosen.train),
            "made": {
                "regard": __version__,
                "torch": torch.__version__,
                "pairs": corpus.text.digest,
            },
        }
        world.from_main(lambda: _open(folder, config, corpus, resume))
        with folder.locked() if world.main else nullcontext():
            log = Log(folder.log if world.main else None, tensorboard)
            seed_all(chosen.train.seed)
            model = build(model_config)
            print_summary(corpus, chosen.data, progress.note)
            numbers = sum(p.numel() for p in model.parameters())
            progress.note(f"{model_config.model}: {numbers:,} parameters")
            if not resume:
                log.write("data", **summary(corpus, chosen.data), parameters=numbers)
            task = Translation(model, corpus, chosen.train)
            spent = time.monotonic() - began
            loop = Loop(
                task, chosen.train, folder, world=world, progress=progress, log=log, spent=spent
            )
            outcome = loop.run(resume)
            if world.main:
                _draw(folder, progress)
            return outcome


def _resumed(saved: Tree, settings: Tree) -> Tree:
    """The saved settings with the given ones on top; a model named anew replaces the saved one."""
    kept = {name: saved[name] for name in ("data", "model", "train")}
    given = settings.get("model", {})
    if given:
        kept["model"] = {"model": kept["model"]["model"]}
    return merged(kept, settings)


def _check_able(settings: Settings, world: World, tensorboard: bool) -> None:
    """Find out what is missing before any work is done."""
    if tensorboard and find_spec("tensorboard") is None:
        raise MissingExtraError("TensorBoard", "tensorboard")
    if not settings.train.sharded and find_spec("sacrebleu") is None:
        raise MissingExtraError("BLEU", "train")
    files = [v for k, v in asdict(settings.data).items() if v == "-"]
    if len(files) > 1 or (files and world.size > 1):
        raise ConfigError("standard input (-) can be read once, by one process: give files")


def _corpus(config: PairsConfig, folder: RunFolder, world: World) -> Corpus:
    """The corpus, the same in every process."""
    text = read_text(config)
    if len(set(world.collected(text.digest))) > 1:
        raise ConfigError("the processes of this run read different data: give all the same files")

    def vocabulary() -> str:
        exists = folder.tokens.exists()
        tokens = Tokens.load(folder.tokens) if exists else learn_tokens(text, config)
        return tokens.to_text()

    return make_corpus(text, Tokens.from_text(world.from_main(vocabulary)), config)


def _open(folder: RunFolder, config: Tree, corpus: Corpus, resume: bool) -> None:
    """Make the run folder, or make sure that it is this run's."""
    if resume:
        folder.check_same(config)
    else:
        folder.check_new()
    folder.write_config(config)
    corpus.tokens.save(folder.tokens)
    write_pairs(folder.valid, corpus.text.parts.valid)
    if corpus.text.parts.test:
        write_pairs(folder.test, corpus.text.parts.test)


def _draw(folder: RunFolder, progress: Progress) -> None:
    try:
        draw_curves(folder.log, folder.curves)
    except RegardError as error:
        progress.note(f"no picture of the curves: {error}")


def _model_problems(model: dict[str, Any]) -> list[str]:
    """What is wrong with the model's settings, found before any data is read."""
    try:
        Settings(PairsConfig(pairs="-"), model, TrainConfig()).translator(100)
    except ConfigError as error:
        return [str(error)]
    return []


def _lengths(example: Example) -> tuple[int, int]:
    """Of the source with EOS, of the target with BOS and EOS."""
    return len(example.source) + 1, len(example.target) + 2


def _predictions(model: Translator, examples: list[Example]) -> np.ndarray[Any, Any]:
    """How many target tokens of each example the model's loss is a sum over."""
    lengths = torch.tensor([_lengths(example) for example in examples])
    return model.predictable(lengths[:, 0], lengths[:, 1] - 1).numpy()
