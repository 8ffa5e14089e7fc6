"""Runs as real processes: killed, interrupted, out of disk, several at once."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from regard.cli import main
from regard.models.translators.config import POINTING
from regard.store.folder import load_translator
from regard.train.run.log import read_log
from tests.train.small_runs import ROOT, arguments, start

TORCHRUN = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def run(args: list[str]) -> int:
    """The command in this process; its exit code."""
    with pytest.raises(SystemExit) as ended:
        main(args)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def weights(folder: Path, step: int = 40) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = load_file(
        folder / f"checkpoints/step-{step:08d}/model.safetensors"
    )
    return found


def same_bits(one: Path, other: Path, step: int = 40) -> bool:
    """Whether weights, Adam's state, the final model and the validation figures are equal."""
    files = [f"checkpoints/step-{step:08d}/{name}.safetensors" for name in ("model", "optimizer")]
    equal = all(
        (one / f).read_bytes() == (other / f).read_bytes() for f in [*files, "model.safetensors"]
    )
    figures = [
        [(e["step"], e["loss"], e.get("score")) for e in read_log(p / "log.jsonl") if "loss" in e]
        for p in (one, other)
    ]
    return equal and figures[0] == figures[1]


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text!r} never came: {process.communicate()}")


@pytest.fixture(scope="module")
def uninterrupted(pairs_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    assert run(arguments(pairs_file, folder)) == 0
    return folder


def test_a_run_leaves_what_it_should(uninterrupted: Path) -> None:
    names = {path.name for path in uninterrupted.iterdir()}
    assert names >= {"config.json", "tokens.json", "model.safetensors", "log.jsonl", "curves.png",
                     "valid.tsv", "test.tsv", "checkpoints"}  # fmt: skip
    complete = list((uninterrupted / "checkpoints").glob("*/state.json"))
    assert len(complete) == 2
    model, tokens = load_translator(uninterrupted)
    assert not model.training
    assert tokens.decode(tokens.encode("one two")) == "one two"
    events = [event["event"] for event in read_log(uninterrupted / "log.jsonl")]
    assert events.count("train") == 40
    assert events.count("valid") == 5
    assert events[-2:] == ["average", "end"]


def test_killed_then_resumed_has_the_same_bits(
    uninterrupted: Path, pairs_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    step = random.randrange(4, 38)
    process = start(arguments(pairs_file, folder))
    wait_for(process, f"step {step} ")
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    assert not (folder / f"checkpoints/step-{40:08d}").exists()
    assert run(["train", "translate", "-o", str(folder), "--resume"]) == 0
    assert same_bits(uninterrupted, folder), f"killed at step {step}"


@pytest.mark.parametrize("model", POINTING)
def test_a_pointer_is_resumed_to_the_bit(model: str, pairs_file: Path, tmp_path: Path) -> None:
    """Killed while words are copied that the vocabulary does not have."""
    own: dict[str, Any] = {"model__heads": None, "model__layers": None, "model__feedforward": None,
                           "model__hidden": 7, "model__readout": 8}  # fmt: skip
    settings = {"model__model": model, "model__pointer": True, "data__level": "word",
                "data__vocabulary": 20, "train__steps": 12, "train__validate_every": 6,
                "train__validate_at_most": 5} | (own if model == "bahdanau" else {})  # fmt: skip
    whole, killed = whole_and_killed(pairs_file, tmp_path, settings)
    assert any("pointer" in name for name in weights(whole, 12))
    assert same_bits(whole, killed, 12)


def test_pieces_that_fall_apart_fall_alike_when_resumed(pairs_file: Path, tmp_path: Path) -> None:
    settings = {"data__apart": 0.4, "train__steps": 12, "train__validate_every": 6,
                "train__validate_at_most": 5}  # fmt: skip
    whole, killed = whole_and_killed(pairs_file, tmp_path, settings)
    assert same_bits(whole, killed, 12)


def whole_and_killed(
    pairs_file: Path, tmp_path: Path, settings: Mapping[str, Any]
) -> tuple[Path, Path]:
    """A run of 12 updates, and one that was killed at the eighth and resumed."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert run(arguments(pairs_file, whole, **settings)) == 0
    process = start(arguments(pairs_file, killed, **settings))
    wait_for(process, "step 8 ")
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    process.communicate()
    assert not (killed / f"checkpoints/step-{12:08d}").exists()
    assert run(["train", "translate", "-o", str(killed), "--resume"]) == 0
    return whole, killed


def test_interrupted_saves_and_says_how_to_go_on(
    uninterrupted: Path, pairs_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "interrupted"
    process = start(arguments(pairs_file, folder, train__save_every=0))
    wait_for(process, "step 10 ")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "stopped and saved at step" in errors
    assert f"regard train translate -o {folder} --resume" in errors
    assert run(["train", "translate", "-o", str(folder), "--resume"]) == 0
    assert same_bits(uninterrupted, folder)


def test_a_full_disk_keeps_the_last_checkpoint(
    uninterrupted: Path, pairs_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "full"
    # A first part that fits, then no file may grow beyond 20 kB: no checkpoint fits.
    assert run(arguments(pairs_file, folder, train__steps=16)) == 0
    before = {p: p.read_bytes() for p in folder.rglob("*.safetensors")}
    process = start(
        ["train", "translate", "-o", str(folder), "--resume", "--steps", "40"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )
    _, errors = process.communicate()
    assert process.returncode == 2
    assert "cannot write" in errors
    assert "Traceback" not in errors
    assert "step 16 is kept" in errors
    assert {p: p.read_bytes() for p in folder.rglob("*.safetensors")} == before
    assert not list((folder / "checkpoints").glob(".writing*"))


def test_two_processes_equal_one(pairs_file: Path, tmp_path: Path) -> None:
    """Gradients averaged (DDP); all sharded (FSDP2) and resumed; begun by two, ended by one."""
    # A key's bias has no gradient but rounding errors, which Adam's usual epsilon would blow up.
    plain = {"model__dropout": 0.0, "train__accumulate": 2, "train__steps": 10,
             "train__epsilon": 1e-3, "train__monitor": "loss"}  # fmt: skip
    shards = {**plain, "train__sharded": True, "train__steps": 5}
    onwards = ["--resume", "--steps", "10"]
    commands = [
        arguments(pairs_file, tmp_path / "two", **plain),
        arguments(pairs_file, tmp_path / "shards", **shards),
        ["train", "translate", "-o", str(tmp_path / "shards"), *onwards],
        arguments(pairs_file, tmp_path / "fewer", **plain | {"train__steps": 5}),
    ]
    script = Path(__file__).parents[1] / "several_commands.py"
    together = subprocess.run(
        [sys.executable, "-m", *TORCHRUN, str(script), json.dumps(commands)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert together.returncode == 0, together.stderr
    assert together.stdout.count("done (steps)") == 4
    assert run(arguments(pairs_file, tmp_path / "one", **plain)) == 0
    assert run(["train", "translate", "-o", str(tmp_path / "fewer"), *onwards]) == 0
    for folder in (tmp_path / "two", tmp_path / "shards", tmp_path / "fewer"):
        one, other = weights(tmp_path / "one", 10), weights(folder, 10)
        assert one.keys() == other.keys()
        for name, tensor in one.items():
            torch.testing.assert_close(other[name], tensor, rtol=1e-3, atol=1e-6)
        assert losses(folder) == pytest.approx(losses(tmp_path / "one"), rel=1e-4)
        load_translator(folder)


def losses(folder: Path) -> list[float]:
    return [e["loss"] for e in read_log(folder / "log.jsonl") if e["event"] == "train"]
