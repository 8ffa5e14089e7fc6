"""The task of translation: counts, validation figures, settings by design."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from regard.errors import ConfigError
from regard.models.translators.builder import build
from regard.models.translators.config import MODELS, POINTING, sized
from regard.models.translators.translation import translate_texts
from regard.train.config import TrainConfig
from regard.train.data.batches import collate
from regard.train.data.config import PairsConfig
from regard.train.data.corpus import TokenCorpus
from regard.train.data.pairs import Pair
from regard.train.tasks.metrics import bleu, chrf
from regard.train.tasks.task import Criterion, Showing
from regard.train.tasks.translate import RECIPES, Translate, TranslationTask


@pytest.fixture
def corpus(pairs_file: Path) -> TokenCorpus[Pair]:
    config = PairsConfig(pairs=str(pairs_file), valid_share=0.1, test_share=0.1)
    job = Translate()
    read = job.read(config)
    return job.encode(read, job.learn(read, config), config)


@pytest.mark.parametrize("model", MODELS)
def test_targets_are_what_the_loss_is_a_sum_over(model: str, corpus: TokenCorpus[Pair]) -> None:
    translator = build(sized(model, "tiny", len(corpus.tokens), dropout=0.0))
    task = TranslationTask(translator, corpus, TrainConfig(batch_tokens=300))
    for rows in task.batches(0)[:3]:
        b = collate([task.train[row] for row in rows])
        loss = translator.loss(b.source, b.source_lengths, b.target, b.target_lengths)
        assert task.targets(rows) == loss.tokens
        torch.testing.assert_close(task.loss(rows, 0.0), loss.total)


@pytest.mark.parametrize("model", ["word-by-word", "bahdanau"])
def test_sources_fall_apart_anew_in_each_pass(model: str, corpus: TokenCorpus[Pair]) -> None:
    translator = build(sized(model, "tiny", len(corpus.tokens), dropout=0.0))
    task = TranslationTask(translator, corpus, TrainConfig(batch_tokens=300), apart=0.3, longest=50)
    first, seen = task.batches(0), task.train
    assert [e.target for e in seen] == [ids[1] for ids in corpus.train]
    assert sum(len(e.source) for e in seen) > sum(len(ids[0]) for ids in corpus.train)
    rows = first[0]
    b = collate([seen[row] for row in rows])
    loss = translator.loss(b.source, b.source_lengths, b.target, b.target_lengths)
    assert task.targets(rows) == loss.tokens
    torch.testing.assert_close(task.loss(rows, 0.0), loss.total)
    task.batches(1)
    assert task.train != seen
    assert (task.batches(0), task.train) == (first, seen)  # as a resumed run draws it


def of_toms(folder: Path) -> TokenCorpus[Pair]:
    """Twenty pairs with a name, and two without."""
    others = "Er sieht den Hund.\tHe sees the dog.\nDas ist gut.\tThat is good.\n"
    (folder / "names.tsv").write_text("Tom sieht den Hund.\tTom sees the dog.\n" * 20 + others)
    config = PairsConfig(pairs=str(folder / "names.tsv"), valid_pairs=str(folder / "names.tsv"))
    job = Translate()
    read = job.read(config)
    return job.encode(read, job.learn(read, config), config)


def test_names_are_made_up_anew_in_each_pass(tmp_path: Path) -> None:
    corpus = of_toms(tmp_path)
    translator = build(sized("bahdanau", "tiny", len(corpus.tokens), dropout=0.0))
    task = TranslationTask(translator, corpus, TrainConfig(batch_tokens=300), names=0.5)
    first, seen = task.batches(0), task.train
    tom = corpus.tokens.encode("Tom sieht den Hund.")
    renamed = [e for e, ids in zip(seen, corpus.train, strict=True) if tuple(e) != tuple(ids)]
    assert 4 <= len(renamed) <= 16
    names = set()
    for example in renamed:
        assert list(example.source) != list(tom)
        name = corpus.tokens.decode(example.source).removesuffix(" sieht den Hund.")
        assert corpus.tokens.decode(example.target) == f"{name} sees the dog."
        names.add(name)
    assert "Tom" not in names
    assert len(names) > 1
    rows = first[0]
    b = collate([seen[row] for row in rows])
    loss = translator.loss(b.source, b.source_lengths, b.target, b.target_lengths)
    assert task.targets(rows) == loss.tokens
    task.batches(1)
    assert task.train != seen
    assert (task.batches(0), task.train) == (first, seen)  # as a resumed run draws it


def test_a_name_that_makes_a_text_too_long_is_not_given(tmp_path: Path) -> None:
    corpus = of_toms(tmp_path)
    translator = build(sized("bahdanau", "tiny", len(corpus.tokens), dropout=0.0))
    longest = max(len(side) for ids in corpus.train for side in ids)
    changed = {}
    for room in (longest, 100):
        task = TranslationTask(
            translator, corpus, TrainConfig(batch_tokens=300), names=1.0, longest=room
        )
        task.batches(0)
        pairs = zip(task.train, corpus.train, strict=True)
        found = [example for example, ids in pairs if tuple(example) != tuple(ids)]
        changed[room] = max((len(side) for example in found for side in example), default=0)
    assert changed[longest] <= longest < changed[100]


def test_validation_does_not_depend_on_the_batch(corpus: TokenCorpus[Pair]) -> None:
    torch.manual_seed(0)
    translator = build(sized("bahdanau", "tiny", len(corpus.tokens))).eval()
    figures = []
    for size in (20, 2000):
        task = TranslationTask(translator, corpus, TrainConfig(batch_tokens=size))
        with torch.no_grad():
            figures.append(task.evaluate(Criterion(task), decode=True))
    assert figures[0] == pytest.approx(figures[1], rel=1e-5)
    assert figures[0].keys() == {"loss", "perplexity", "score"}
    assert figures[0]["perplexity"] == pytest.approx(math.exp(figures[0]["loss"]))
    assert isinstance(task, Showing)
    valid = corpus.data.valid
    assert [s["source"] for s in task.samples()][::2] == [valid[0].source, valid[-1].source]
    assert [s["reference"] for s in task.samples()][::2] == [valid[0].target, valid[-1].target]
    (said,) = translate_texts(translator, corpus.tokens, [valid[0].source], beam=1)
    assert task.samples()[0]["said"] == said.text


@pytest.mark.parametrize("model", POINTING)
def test_validation_names_the_unknown_words_that_were_copied(model: str, tmp_path: Path) -> None:
    """With nothing but copying, and names that training never has."""
    table = tmp_path / "names.tsv"
    names = ["Xylo", "Yps", "Zorn", "Quux", "Wim"]
    lines = [f"{name} sees the dog and {name} .\ta dog\n" for name in names]
    known = "the dog sees a cat and it\ta dog\n" * 3
    (tmp_path / "train.tsv").write_text(known)
    table.write_text("".join(lines))
    config = PairsConfig(
        pairs=str(tmp_path / "train.tsv"), valid_pairs=str(table), test_share=0.0, level="word"
    )
    job = Translate()
    read = job.read(config)
    corpus = job.encode(read, job.learn(read, config), config)
    torch.manual_seed(3)
    translator = build(sized(model, "tiny", len(corpus.tokens), pointer=True)).eval()
    assert translator.pointer is not None
    with torch.no_grad():
        translator.pointer.gate.weight.zero_()
        translator.pointer.gate.bias.fill_(-1000.0)
    task = TranslationTask(translator, corpus, TrainConfig(batch_tokens=20))
    with torch.no_grad():
        figures = task.evaluate(Criterion(task), decode=True)
    found = list(translate_texts(translator, corpus.tokens, task.sources, beam=1))
    texts = [each.text for each in found]
    assert any(name in " ".join(texts) for name in names), texts
    assert [s["said"] for s in task.samples()] == [texts[0], texts[2], texts[4]]
    score = bleu if task.score == "BLEU" else chrf
    assert figures["score"] == pytest.approx(score(texts, task.references).value)


@pytest.mark.parametrize("model", Translate.rounded)
def test_products_in_bfloat16_change_the_gradient_little(
    model: str, corpus: TokenCorpus[Pair]
) -> None:
    torch.manual_seed(0)
    translator = build(sized(model, "tiny", len(corpus.tokens), dropout=0.0))
    task = TranslationTask(translator, corpus, TrainConfig(batch_tokens=300))
    found = []
    for low in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=low):
            loss = task.loss(task.batches(0)[0], 0.1)
        assert loss.dtype == torch.float32
        gradients = torch.autograd.grad(loss, list(translator.parameters()))
        assert {gradient.dtype for gradient in gradients} == {torch.float32}
        found.append((loss.detach(), torch.cat([gradient.flatten() for gradient in gradients])))
    (exact, slope), (rounded, rounded_slope) = found
    assert exact != rounded
    torch.testing.assert_close(rounded, exact, rtol=1e-3, atol=0)
    assert torch.cosine_similarity(slope, rounded_slope, 0) > 0.998


def test_each_design_has_its_recipe() -> None:
    assert set(RECIPES) == set(MODELS)
    for model in MODELS:
        settings = Translate().settle({"data": {"pairs": "x"}, "model": {"model": model}})
        assert settings.train.learning_rate == RECIPES[model]["learning_rate"]
        assert settings.train.epochs == 30
    base = Translate().settle(
        {"data": {"pairs": "x"}, "model": {"model": "transformer", "size": "base"}}
    )
    assert base.train.learning_rate == pytest.approx((512 * 4000) ** -0.5, rel=0.01)
    chosen = Translate().settle(
        {"data": {"pairs": "x"}, "train": {"learning_rate": 0.5, "minutes": 1}}
    )
    assert (chosen.train.learning_rate, chosen.train.epochs) == (0.5, 0)


def test_all_sections_complain_together() -> None:
    tree = {"data": {}, "model": {"model": "rnn"}, "train": {"clip": -1}, "trian": {}}
    with pytest.raises(ConfigError) as caught:
        Translate().settle(tree)
    for text in ("no section trian", "data.pairs is missing", "train.clip", "got 'rnn'"):
        assert text in str(caught.value)
