"""The tasks of language modelling, and runs that stop and go on with the same bits."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from regard.cli import main
from regard.errors import ConfigError
from regard.models.design import DESIGNS
from regard.models.language import LanguageModel, sized
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import load_language_model
from regard.train.config import TrainConfig
from regard.train.data.config import TextConfig
from regard.train.data.corpus import TokenCorpus, in_tokens
from regard.train.data.examples import Dataset
from regard.train.data.sentences import TextLine
from regard.train.run.log import read_log
from regard.train.tasks.lm import RECIPES, Language, Sentences, Stream
from regard.train.tasks.task import Carrying, Criterion
from tests.train.small_runs import start
from tests.train.small_texts import arguments, sentences

STREAM = {"data__continuous": True, "data__chunk": 5, "model__window": 6}


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(sentences()) + "\n")
    return path


@pytest.fixture
def corpus() -> TokenCorpus[TextLine]:
    lines = [TextLine(sentence, i) for i, sentence in enumerate(sentences(), 1)]
    tokens = Tokenizer.train(sentences(), 30, "space")
    return in_tokens(Dataset(lines[:20], lines[20:], [], [], 0, "", 0), tokens, None)


def run(args: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def model(name: str, corpus: TokenCorpus[TextLine], **changes: object) -> LanguageModel:
    torch.manual_seed(1)
    return LanguageModel(sized(name, "tiny", len(corpus.tokens), dropout=0.0, **changes))


def test_targets_are_what_the_loss_is_a_sum_over(corpus: TokenCorpus[TextLine]) -> None:
    made = model("lstm", corpus)
    with torch.no_grad():  # every token as likely as any other
        made.words.zero_()
    nats = torch.tensor(float(len(corpus.tokens))).log()
    for task in (
        Sentences(made, corpus, TrainConfig(batch_tokens=30)),
        Stream(made, corpus, TrainConfig(batch_tokens=30), 7),
    ):
        total = 0
        for rows in task.batches(0):
            torch.testing.assert_close(task.loss(rows, 0.0), task.targets(rows) * nats)
            total += task.targets(rows)
        assert total == 20 * 5, "four tokens and the end of each line"


@pytest.mark.parametrize("continuous", [False, True])
def test_validation(corpus: TokenCorpus[TextLine], continuous: bool) -> None:
    made = model("lstmn", corpus, window=9).eval()
    figures = []
    for size in (10, 200):
        config = TrainConfig(batch_tokens=size)
        task = (
            Stream(made, corpus, config, size // 10)
            if continuous
            else Sentences(made, corpus, config)
        )
        with torch.no_grad():
            figures.append(task.evaluate(Criterion(task), decode=True))
    assert figures[0] == pytest.approx(figures[1], rel=1e-5)
    assert figures[0]["score"] == pytest.approx(torch.tensor(figures[0]["loss"]).exp().item())
    assert task.score == "perplexity"
    assert not task.higher


def test_validating_does_not_disturb_the_stream(corpus: TokenCorpus[TextLine]) -> None:
    losses = []
    for validate in (False, True):
        task = Stream(model("lstm", corpus), corpus, TrainConfig(batch_tokens=20), 5)
        seen = []
        for rows in task.batches(0)[:4]:
            seen.append(float(task.loss(rows, 0.0).detach()))
            if validate:
                with torch.no_grad():
                    task.evaluate(Criterion(task), decode=True)
        losses.append(seen)
    assert losses[0] == losses[1]


def test_only_the_stream_carries(corpus: TokenCorpus[TextLine]) -> None:
    config = TrainConfig(batch_tokens=20)
    assert not isinstance(Sentences(model("lstm", corpus), corpus, config), Carrying)
    one, other = (Stream(model("lstmn", corpus, window=4), corpus, config, 5) for _ in range(2))
    assert isinstance(one, Carrying)
    assert one.carried() == {}
    first, second = one.batches(0)[:2]
    one.loss(first, 0.0)
    other.carry(one.carried())
    assert torch.equal(one.loss(second, 0.0), other.loss(second, 0.0))


def test_what_is_carried_lies_as_it_would_without_a_checkpoint(
    corpus: TokenCorpus[TextLine],
) -> None:
    """At an address that is not aligned, as in a file, the same numbers give other last bits."""
    task = Stream(model("lstmn", corpus, window=4), corpus, TrainConfig(batch_tokens=20), 5)
    task.loss(task.batches(0)[0], 0.0)
    carried = task.carried()
    task.carry({name: unaligned(tensor) for name, tensor in carried.items()})
    for name, tensor in task.carried().items():
        assert torch.equal(tensor, carried[name])
        assert tensor.is_contiguous()
        assert tensor.data_ptr() % 64 == carried[name].data_ptr() % 64 == 0


def unaligned(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers, one element behind the beginning of their memory."""
    buffer = torch.empty(tensor.numel() + 1, dtype=tensor.dtype)
    buffer[1:] = tensor.flatten()
    return buffer[1:].view(tensor.shape)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("simple-rnn+attention", {}),
        ("lstmn", STREAM),
        ("simple-rnn", {k: v for k, v in STREAM.items() if k != "model__window"}),
    ],
)
def test_stopped_then_resumed_has_the_same_bits(
    name: str, settings: dict[str, object], text: Path, tmp_path: Path
) -> None:
    chosen = {**settings, "model__model": name}
    assert run(arguments(text, tmp_path / "whole", **chosen)) == 0
    assert run(arguments(text, tmp_path / "parts", **chosen, train__steps=5)) == 0
    assert run(["train", "lm", "-o", str(tmp_path / "parts"), "--resume", "--steps", "12"]) == 0
    same_bits(tmp_path / "whole", tmp_path / "parts")


def test_killed_then_resumed_has_the_same_bits(text: Path, tmp_path: Path) -> None:
    assert run(arguments(text, tmp_path / "whole", **STREAM)) == 0
    process = start(arguments(text, tmp_path / "killed", **STREAM))
    assert process.stdout is not None
    assert any("step 4 " in line for line in process.stdout)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "killed/checkpoints/step-00000012").exists()
    assert run(["train", "lm", "-o", str(tmp_path / "killed"), "--resume"]) == 0
    same_bits(tmp_path / "whole", tmp_path / "killed")


def same_bits(one: Path, other: Path) -> None:
    for name in ("model", "optimizer"):
        file = f"checkpoints/step-00000012/{name}.safetensors"
        assert (one / file).read_bytes() == (other / file).read_bytes()
    figures = [
        {e["step"]: e["loss"] for e in read_log(p / "log.jsonl") if e["event"] == "train"}
        for p in (one, other)
    ]
    assert figures[0] == figures[1]
    assert len(figures[0]) == 12


def test_the_best_is_the_lowest(text: Path, tmp_path: Path) -> None:
    assert run(arguments(text, tmp_path / "run", train__average=1)) == 0
    events = read_log(tmp_path / "run" / "log.jsonl")
    valid = {e["step"]: e["score"] for e in events if e["event"] == "valid"}
    best = min(valid, key=valid.__getitem__)
    assert [e["step"] for e in events if e.get("best") is True][-1] == best
    assert events[-1]["figure"] == valid[best]
    saved = load_file(tmp_path / "run/model.safetensors")
    model, _ = load_language_model(tmp_path / "run")
    assert torch.equal(saved["words"], model.words)


def test_each_design_has_its_recipe() -> None:
    assert set(RECIPES) == set(DESIGNS)
    for name in DESIGNS:
        settings = Language().settle({"data": {"text": "x"}, "model": {"model": name}})
        assert settings.train.learning_rate == RECIPES[name]["learning_rate"]
        assert settings.train.smoothing == 0.0
        assert settings.train.epochs == 20


def test_all_sections_complain_together() -> None:
    tree = {"data": {"continuous": True, "text": "x"}, "model": {"model": "lstmn"}, "train": {}}
    with pytest.raises(ConfigError, match=r"model\.window is missing: lstmn keeps every word"):
        Language().settle(tree)
    tree = {"data": {}, "model": {"model": "rnn"}, "train": {"clip": -1}, "trian": {}}
    with pytest.raises(ConfigError) as caught:
        Language().settle(tree)
    for part in ("no section trian", "data.text is missing", "train.clip", "got 'rnn'"):
        assert part in str(caught.value)
    assert isinstance(Language().settle({"data": {"text": "x"}}).data, TextConfig)
