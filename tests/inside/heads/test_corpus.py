"""Heads over a corpus: against the same texts one by one, stopped and resumed, in two processes."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

import regard.inside.heads.corpus as module
from regard.errors import DataError, FileError, ModelError, RegardError
from regard.inside.heads.corpus import CorpusState, rank_corpus
from regard.inside.look.look import look
from regard.inside.textmodel import TextModel, load
from regard.pieces.look import LookRequest
from regard.train.run.distributed import World
from tests.cli.run import ROOT, regard
from tests.models.bert.tinybert import save_tiny

WORDS = [
    "the",
    "animal",
    "street",
    "it",
    "was",
    "too",
    "tired",
    "wide",
    "crossed",
    "because",
    "didn't",
    ".",
    "unbelievable",
    "cat",
    "sat",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bert")
    save_tiny(made)
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> TextModel:
    return load(str(folder))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """61 lines: an empty one, one that is too long, one with Windows' end."""
    chosen = random.Random(7)
    lines = [" ".join(chosen.choices(WORDS, k=chosen.randrange(3, 12))) for _ in range(61)]
    lines[5], lines[9], lines[11] = "", "the " * 30, lines[11] + "\r"
    path = tmp_path_factory.mktemp("corpus") / "texts.txt"
    path.write_text("\n".join(lines) + "\n", newline="")
    return path


def test_a_corpus_is_the_sum_of_its_texts(model: TextModel, corpus: Path) -> None:
    done = rank_corpus(model, str(corpus), World(), link=("it", "animal"))
    sums = done.sums
    assert (done.lines, sums.texts, sums.empty, sums.long) == (61, 59, 1, 1)
    texts = [t for t in corpus.read_text().split("\n") if t.strip() and len(t.split()) < 30]
    looks = [look(model, model.read(t), LookRequest(links=0)) for t in texts]
    assert sums.tokens == sum(len(found.queries) for found in looks)
    scored = sums.heads("m", True)
    for place in ((0, 0), (2, 4)):
        # Each query of "first" counts once: texts weigh by their length.
        lengths = np.array([len(found.queries) - 1 for found in looks])
        first = np.array([found.heads[place].scores["first"] for found in looks])
        expected = (first * lengths).sum() / lengths.sum()
        assert scored.scored[place].scores["first"] == pytest.approx(expected, abs=1e-6)
    both = [t for t in texts if {"it", "animal"} <= set(t.split())]
    assert sums.linked == len(both) > 3
    links = [
        look(model, model.read(t), LookRequest(link=("it", "animal"))).weights[1, 3] for t in both
    ]
    assert scored.weights[1, 3] == pytest.approx(np.mean(links), abs=1e-6)


def test_stopped_and_resumed_is_the_same(model: TextModel, corpus: Path, tmp_path: Path) -> None:
    whole = rank_corpus(model, str(corpus), World(), state_file=str(tmp_path / "whole.json"))
    state, stop, rounds = str(tmp_path / "parts.json"), threading.Event(), 0

    def progress(now: CorpusState, share: float) -> None:
        stop.set()

    done = CorpusState({})
    while done.lines < 61:
        stop.clear()
        done = rank_corpus(
            model, str(corpus), World(), state_file=state, progress=progress, stop=stop
        )
        rounds += 1
    assert rounds == 8, "each time one block of eight lines"
    assert Path(state).read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert done.sums.heads("m", False).to_json() == whole.sums.heads("m", False).to_json()
    again = rank_corpus(model, str(corpus), World(), state_file=state)
    assert again.lines == 61, "nothing is read twice"


def test_the_state_is_saved_on_the_way(
    model: TextModel, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVE_EVERY", 0.0)
    path = tmp_path / "state.json"
    seen = []

    def progress(now: CorpusState, share: float) -> None:
        seen.append(json.loads(path.read_text())["lines"] if path.exists() else 0)

    rank_corpus(model, str(corpus), World(), state_file=str(path), progress=progress)
    assert seen == [0, 8, 16, 24, 32, 40, 48, 56]


def test_gzip(model: TextModel, corpus: Path, tmp_path: Path) -> None:
    packed = tmp_path / "texts.gz"
    packed.write_bytes(gzip.compress(corpus.read_bytes()))
    plain = rank_corpus(model, str(corpus), World())
    assert rank_corpus(model, str(packed), World()).digest == plain.digest


def test_states_that_do_not_fit(model: TextModel, corpus: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    rank_corpus(model, str(corpus), World(), state_file=str(state), link=("it", "cat"))
    with pytest.raises(RegardError, match=r"another run: its link is \['it', 'cat'\], now it is"):
        rank_corpus(model, str(corpus), World(), state_file=str(state))
    other = tmp_path / "other.txt"
    other.write_text(corpus.read_text().replace("street", "cat"))
    with pytest.raises(RegardError, match="another corpus: the first 61 lines"):
        rank_corpus(model, str(other), World(), state_file=str(state), link=("it", "cat"))
    state.write_text("{}")
    with pytest.raises(FileError, match="is not the state of 'regard heads --corpus'"):
        rank_corpus(model, str(corpus), World(), state_file=str(state))


def test_texts_that_are_none(model: TextModel, tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("the cat\ncaf\u00e9".encode("latin-1"))
    with pytest.raises(DataError, match="is not UTF-8: line 2, byte 4 of the line is 0xe9; iconv"):
        rank_corpus(model, str(path), World())
    with pytest.raises(FileError, match="cannot read"):
        rank_corpus(model, str(tmp_path / "none.txt"), World())


def test_two_processes_give_the_same_bits(folder: Path, corpus: Path, tmp_path: Path) -> None:
    """Of heads, and of ablate, which has the same engine."""

    def commands(name: str) -> list[list[str]]:
        both = (["heads", "--link", "it", "animal"], ["ablate", "--by", "mean"])
        given = [str(folder), "--corpus", str(corpus)]
        found = []
        for command, *options in both:
            state, made = (tmp_path / f"{command}-{name}{end}.json" for end in ("", "-found"))
            options += ["--state", str(state), "--json", str(made)]
            found.append([command, *given, *options])
        return found

    for command in commands("one"):
        alone = regard(*command)
        assert alone.returncode == 0, alone.stderr
    together = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
         str(ROOT / "tests/train/several_commands.py"), json.dumps(commands("two"))],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert together.returncode == 0, together.stderr
    assert "59 texts" not in together.stdout.partition("15 heads")[0], "of heads, on stderr"
    assert together.stderr.count("59 texts") == 1, "one process talks"
    assert together.stdout.count("15 heads, 59 texts") == 1
    for kind in ("heads", "ablate"):
        for end in (".json", "-found.json"):
            one, two = (tmp_path / f"{kind}-{name}{end}" for name in ("one", "two"))
            assert one.read_bytes() == two.read_bytes()


def test_ctrl_c_leaves_what_was_finished(folder: Path, tmp_path: Path) -> None:
    endless = tmp_path / "long.txt"
    endless.write_text("the animal was too tired .\n" * 200_000)
    state, out = tmp_path / "state.json", tmp_path / "heads.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", "heads", str(folder), "--corpus", str(endless),
         "--state", str(state), "--json", str(out)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "for the rest of long.txt" in line:
            break
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert f"go on with --state {state}" in errors
    lines = json.loads(state.read_text())["lines"]
    assert 0 < lines < 200_000
    assert json.loads(out.read_text())["tokens"] == 8 * lines


def test_a_line_that_gives_no_numbers_is_refused() -> None:
    assert module.whole(torch.tensor([1.0])).tolist() == [module.UNIT]
    for bad in (math.nan, math.inf):
        with pytest.raises(
            ModelError, match=r"must be finite numbers, got NaN or infinity in a line"
        ):
            module.whole(torch.tensor([bad, 1.0]))
