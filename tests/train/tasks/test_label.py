"""The task of labelling words: its loss by hand, runs that go on with the same bits, `read`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from regard.models.labeller import Labeller, sized_labeller
from regard.train.config import TrainConfig
from regard.train.data.config import TaggedConfig
from regard.train.data.corpus import TokenCorpus
from regard.train.data.tagged import Tagged
from regard.train.tasks.job import Settings
from regard.train.tasks.label import Labelling, LabelWords, all_tags, said_labels
from regard.train.tasks.task import Criterion
from tests.train.tagged_words import arguments, columns, sentences
from tests.train.tasks.test_lm import run


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "tagged.tsv"
    path.write_text(columns())
    return path


@pytest.fixture
def corpus(data: Path) -> TokenCorpus[Tagged]:
    config = TaggedConfig(file=str(data), valid_share=0.2, test_share=0.2)
    job = LabelWords()
    read = job.read(config)
    return job.encode(read, job.learn(read, config), config)


def task_of(corpus: TokenCorpus[Tagged], model: str = "alone", batch: int = 40) -> Labelling:
    torch.manual_seed(0)
    config = sized_labeller(
        model, "tiny", tuple(all_tags(corpus.data)), vocabulary=len(corpus.tokens)
    )
    settings = Settings(TaggedConfig(file="x"), {}, TrainConfig(batch_tokens=batch))
    return LabelWords().make_task(Labeller(config), corpus, settings)


def test_the_loss_is_a_sum_over_words(corpus: TokenCorpus[Tagged]) -> None:
    task = task_of(corpus)
    with torch.no_grad():
        task.model.output.weight.zero_()
        task.model.output.bias.zero_()
    seen = [row for rows in task.batches(0) for row in rows]
    assert sorted(seen) == list(range(len(corpus.train)))
    for rows in task.batches(0):
        assert task.targets(rows) == sum(len(corpus.examples[row].words) for row in rows)
        expected = task.targets(rows) * math.log(5)
        assert task.loss(rows, 0.0).item() == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("model", ["conv", "lstmn", "transformer"])
def test_validation_does_not_depend_on_the_batch(model: str, corpus: TokenCorpus[Tagged]) -> None:
    figures = []
    for size in (15, 500):
        task = task_of(corpus, model, size)
        task.model.eval()
        with torch.no_grad():
            figures.append(task.evaluate(Criterion(task), decode=True))
    assert figures[0] == pytest.approx(figures[1], rel=1e-5)
    said = [label for each in said_labels(task.model, task.valid) for label in each.tolist()]
    right = [label for each in task.valid.labels for label in each]
    hits = sum(a == b for a, b in zip(said, right, strict=True))
    assert figures[0]["score"] == pytest.approx(100 * hits / len(right))
    with torch.no_grad():
        assert task.evaluate(Criterion(task), decode=False).keys() == {"loss"}


def test_it_learns_what_the_word_alone_cannot_know(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"model__model": "conv", "model__dropout": 0, "train__average": 1}
    settings |= {"train__steps": 40, "train__learning_rate": 0.01, "train__warmup": 0}
    same = ["--valid", str(data), "--test", str(data)]
    output = tmp_path / "run"
    assert run(arguments(data, output, *same, **settings)) == 0
    assert "5 labels of 144 words: P (32), V (32), D (32), N (32), M (16)" in (
        capsys.readouterr().out
    )
    assert run(["evaluate", str(output)]) == 0
    said = capsys.readouterr().out
    assert "32 sentences, 144 words with a label each" in said
    assert "most labels right: conv" in said
    assert run(["evaluate", str(output), "--json", "-"]) == 0
    commonest, alone, own = json.loads(capsys.readouterr().out)["ways"]
    assert commonest == {"name": "commonest label", "accuracy": 32 / 144, "known": 32 / 144}
    assert alone["name"] == "the word alone"
    assert alone["accuracy"] == (144 - 32) / 144  # each of 8 words is twice right, twice wrong
    assert own["accuracy"] == 1.0
    assert run(["read", "--model", str(output), "we like the can."]) == 0
    said = capsys.readouterr().out
    assert "conv has no attention: the label of each word" in said
    assert [line.split()[:2] for line in said.splitlines()[2:]] == [
        ["we", "P"],
        ["like", "V"],
        ["the", "D"],
        ["can", "N"],
        [".", "M"],
    ]
    assert run(["read", "--model", str(output), "--head", "0", "we like"]) == 2
    assert "conv has no attention: it has no layer or head" in capsys.readouterr().err


def test_stopped_then_resumed_has_the_same_bits(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments(data, tmp_path / "whole")) == 0
    assert run(arguments(data, tmp_path / "parts", train__steps=4)) == 0
    command = ["train", "label", "-o", str(tmp_path / "parts"), "--resume"]
    assert run([*command, "--steps", "12"]) == 0
    for name in ("model", "optimizer"):
        file = f"checkpoints/step-00000012/{name}.safetensors"
        one, other = (tmp_path / run / file for run in ("whole", "parts"))
        assert one.read_bytes() == other.read_bytes()
    capsys.readouterr()
    model = str(tmp_path / "whole")
    assert run(["read", "--model", model, "--layer", "1", "we like"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("transformer: what each word attends to, in hundredths (layer 1, mean")
    assert "looks at, in hundredths" in said
    assert run(["read", "--model", model, "--html", str(tmp_path / "p.html"), "we like"]) == 0
    assert (tmp_path / "p.html").stat().st_size > 10_000
    capsys.readouterr()
    assert run(["read", "--model", model, "--json", "-", "we like"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert [step["name"] for step in read["steps"]] == ["probabilities", "attention", "attention"]
    assert (tmp_path / "whole/test.tsv").read_text().endswith("\n\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tX\nb\tX\n", "has one label, 'X': there is nothing to tell apart"),
        ("a\nb\n", "has one column: a word and its label a line"),
    ],
)
def test_refused(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad").write_text(text)
    assert run(arguments(tmp_path / "bad", tmp_path / "run")) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_label_that_training_has_not(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = tmp_path / "strange"
    strange.write_text(columns([[("we", "P"), ("sleep", "ZZ")], *sentences()[:1]]))
    assert run(arguments(data, tmp_path / "run", "--test", str(strange))) == 2
    error = capsys.readouterr().err
    assert "the sentence on line 1: 'sleep' has the label 'ZZ', which does not occur" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run" / "config.json").exists()
