"""The task of classification: figures by hand, runs that go on with the same bits."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.models.classifier import CLASSIFIERS, Classifier, sized
from regard.train.config import TrainConfig
from regard.train.data.config import LabelledConfig
from regard.train.data.corpus import TokenCorpus
from regard.train.data.labelled import Labelled
from regard.train.run.log import read_log
from regard.train.tasks.classify import (
    RECIPES,
    Classification,
    Classify,
    Confusion,
    all_labels,
    decide,
    start_from,
)
from regard.train.tasks.job import Settings
from regard.train.tasks.task import Criterion
from regard.vectors.words import Words
from tests.train.tasks.test_lm import run

GOOD, BAD = ("good", "great", "lovely", "fine"), ("bad", "poor", "dull", "sad")
NAMES = ("film", "book", "play", "song", "tale", "show")


def rows() -> str:
    """48 sentences, half of them good."""
    return "".join(
        f"{label} a {word} {name} .\n"
        for label, words in ((1, GOOD), (0, BAD))
        for word in words
        for name in NAMES
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "reviews"
    path.write_text(rows())
    return path


def test_vectors_beside_weights_are_refused() -> None:
    """The weights would replace them."""
    data = LabelledConfig(file="x", vectors="v", level="space")
    found = Classify().conflicts_of_new(Settings(data, {}, TrainConfig(start="run")))
    assert "train.start (--from) brings the words' vectors: leave data.vectors out" in found
    assert Classify().conflicts_of_new(Settings(data, {}, TrainConfig())) == []


@pytest.fixture
def corpus(data: Path) -> TokenCorpus[Labelled]:
    config = LabelledConfig(file=str(data), valid_share=0.2, test_share=0.2, level="space")
    job = Classify()
    read = job.read(config)
    return job.encode(read, job.learn(read, config), config)


def arguments(data: Path, output: Path, *more: str, **settings: Any) -> list[str]:
    chosen = {
        "data.valid_share": 0.2,
        "data.test_share": 0.2,
        "data.level": "space",
        "data.max_length": 20,
        "model.size": "tiny",
        "train.steps": 12,
        "train.batch_tokens": 30,
        "train.validate_every": 6,
        "train.save_every": 5,
        "train.log_every": 1,
        "train.patience": 0,
        "train.threads": 1,
        **{key.replace("__", "."): value for key, value in settings.items()},
    }
    flags = [part for k, v in chosen.items() for part in ("--set", f"{k}={v}")]
    return ["train", "classify", "--data", str(data), "-o", str(output), *flags, *more]


def model(corpus: TokenCorpus[Labelled], name: str = "words") -> Classifier:
    torch.manual_seed(0)
    return Classifier(sized(name, "tiny", len(corpus.tokens), tuple(all_labels(corpus))))


def test_the_loss_is_a_sum_over_sentences(corpus: TokenCorpus[Labelled]) -> None:
    made = model(corpus)
    with torch.no_grad():
        made.output.weight.zero_()
        made.output.bias.zero_()
    task = Classification(made, corpus, TrainConfig(batch_tokens=40))
    seen = [row for rows in task.batches(0) for row in rows]
    assert sorted(seen) == list(range(len(corpus.train)))
    for rows in task.batches(0):
        expected = task.targets(rows) * math.log(2)
        assert task.loss(rows, 0.0).item() == pytest.approx(expected)


@pytest.mark.parametrize("name", ["words", "lstmn", "transformer"])
def test_validation_does_not_depend_on_the_batch(name: str, corpus: TokenCorpus[Labelled]) -> None:
    made = model(corpus, name).eval()
    figures = []
    for size in (10, 500):
        task = Classification(made, corpus, TrainConfig(batch_tokens=size))
        with torch.no_grad():
            figures.append(task.evaluate(Criterion(task), decode=True))
    assert figures[0] == pytest.approx(figures[1], rel=1e-5)
    said = [int(d.logits.argmax()) for d in decide(made, [ids for (ids,) in corpus.valid])]
    right = sum(a == b for a, b in zip(said, task.valid_labels, strict=True))
    assert figures[0]["score"] == pytest.approx(100 * right / len(said))
    with torch.no_grad():
        assert task.evaluate(Criterion(task), decode=False).keys() == {"loss"}


def test_confusion_by_hand() -> None:
    confusion = Confusion.of(["a", "b", "c"], [0, 0, 0, 1, 1], [0, 0, 1, 1, 0])
    assert confusion.counts.tolist() == [[2, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert (confusion.accuracy, confusion.commonest) == (3 / 5, 3 / 5)
    assert confusion.recall()[:2] == [2 / 3, 1 / 2]
    assert confusion.precision()[:2] == [2 / 3, 1 / 2]
    assert confusion.recall()[2] is None


def test_it_learns(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"model__model": "words", "model__dropout": 0, "train__average": 1}
    settings |= {"train__steps": 60, "train__learning_rate": 0.02, "train__warmup": 0}
    same = ["--valid", str(data), "--test", str(data)]
    assert run(arguments(data, tmp_path / "run", *same, **settings)) == 0
    assert "labels: 1 (24), 0 (24)" in (output := capsys.readouterr().out)
    assert "48 training sentences are also in the validation or test files" in output
    assert "validation accuracy 100.00" in output
    assert run(["evaluate", str(tmp_path / "run"), "--show", "1"]) == 0
    output = capsys.readouterr().out
    assert "accuracy 100.00 %   (always the commonest label:" in output
    assert "true \\ said" in output


def test_stopped_then_resumed_has_the_same_bits(data: Path, tmp_path: Path) -> None:
    assert run(arguments(data, tmp_path / "whole")) == 0
    assert run(arguments(data, tmp_path / "parts", train__steps=4)) == 0
    command = ["train", "classify", "-o", str(tmp_path / "parts"), "--resume"]
    assert run([*command, "--steps", "12"]) == 0
    for name in ("model", "optimizer"):
        file = f"checkpoints/step-00000012/{name}.safetensors"
        one, other = (tmp_path / run / file for run in ("whole", "parts"))
        assert one.read_bytes() == other.read_bytes()


def test_starting_from_word_vectors(
    data: Path, tmp_path: Path, corpus: TokenCorpus[Labelled]
) -> None:
    (tmp_path / "glove.txt").write_text("good 1 2 2\nFILM 9 9 9\nfilm 2 1 2\nzebra 0 0 1\n")
    words = Words.load(tmp_path / "glove.txt")
    made = Classifier(sized("words", "tiny", len(corpus.tokens), ("0", "1"), width=3))
    before = made.words.detach().clone()
    assert start_from(made, corpus.tokens, words) == 2
    good, film, a = (corpus.tokens.encode(word)[0] for word in ("good", "film", "a"))
    assert made.words[good].tolist() == [1, 2, 2]
    assert made.words[film].tolist() == [2, 1, 2]
    torch.testing.assert_close(made.words[a], 3 * before[a])  # as long as theirs


def test_vectors_that_do_not_fit(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "glove.txt").write_text("good 1 2 2\nfilm 2 1 2\n")
    command = arguments(data, tmp_path / "run", "--vectors", str(tmp_path / "glove.txt"))
    assert run(command) == 2
    assert "these vectors have 3 numbers, the model's 64: set model.width=3" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "run").exists()
    assert run([*command, "--set", "model.width=3"]) == 0
    assert "2 of 19 words start from" in capsys.readouterr().out
    assert run(["train", "classify", "-o", str(tmp_path / "run"), "--resume"]) == 0


def test_the_search_for_a_rate_begins_with_them_too(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "glove.txt").write_text("good 1 2 2\nfilm 2 1 2\n")
    vectors = ["--vectors", str(tmp_path / "glove.txt"), "--set", "model.width=3"]
    command = [word for word in arguments(data, tmp_path / "run") if word != "-o"]
    command.remove(str(tmp_path / "run"))
    assert run([*command, *vectors, "--find-rate"]) == 0
    out = capsys.readouterr().out
    assert out.index("2 of 19 words start from") < out.index("try --learning-rate")


def test_a_start_that_was_killed_begins_with_its_vectors(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Killed before its first checkpoint, a run is resumed as it would have begun."""
    (tmp_path / "glove.txt").write_text("good 1 2 2\nfilm 2 1 2\n")
    vectors = ["--vectors", str(tmp_path / "glove.txt"), "--set", "model.width=3"]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(arguments(data, whole, *vectors)) == 0
    assert run(arguments(data, killed, *vectors, train__steps=4)) == 0
    shutil.rmtree(killed / "checkpoints")
    (killed / "model.safetensors").unlink()
    capsys.readouterr()
    assert run(["train", "classify", "-o", str(killed), "--resume", "--steps", "12"]) == 0
    said = capsys.readouterr().out
    assert "there is no checkpoint yet: starting from the beginning" in said
    assert "2 of 19 words start from" in said
    file = "checkpoints/step-00000012/model.safetensors"
    assert (whole / file).read_bytes() == (killed / file).read_bytes()
    steps = [[e.get("step") for e in read_log(p / "log.jsonl")] for p in (whole, killed)]
    assert steps[0] == steps[1], "no step stands twice"


def test_each_design_has_its_recipe() -> None:
    assert set(RECIPES) == set(CLASSIFIERS)
    for name in CLASSIFIERS:
        settings = Classify().settle({"data": {"file": "x"}, "model": {"model": name}})
        assert settings.train.learning_rate == RECIPES[name]["learning_rate"]
