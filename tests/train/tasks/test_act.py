"""Actors by the command: learned, measured, resumed to the bit, read, refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regard.train.data.episodes import divided_episodes, read_episodes
from regard.train.data.thingconfig import EpisodesConfig
from regard.train.tasks.act import EpisodeRows, StepWindow, imitations
from tests.cli.run import Done, regard


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Half of the players do what the state says and get 1 a step, half the contrary and get 0: the
    state alone does not tell the action, with the return it does."""
    made = tmp_path_factory.mktemp("episodes")
    chance = np.random.default_rng(3)
    lines = ["episode,step,x,y,action,reward"]
    for episode in range(90):
        good = episode % 2
        for step in range(int(chance.integers(3, 9))):
            x = float(chance.normal())
            action = int((x > 0) == bool(good))
            lines.append(f"{episode},{step},{x:.4f},{chance.normal():.4f},{action},{good}")
    (made / "players.csv").write_text("\n".join([*lines, "90,0,0,0,1,1"]) + "\n")
    return made


def train(folder: Path, name: str, *more: str) -> Done:
    flags = ("--size", "tiny", "--threads", "1", "--batch-tokens", "200", "--context", "5")
    shares = ("--set", "data.valid_share=0.15", "--set", "data.test_share=0.15")
    return regard(
        *("train", "act", "--episodes", "players.csv", *flags, *shares, *more, "-o", name),
        folder=folder,
    )


@pytest.fixture(scope="module")
def run(folder: Path) -> Done:
    return train(
        folder, "run", "--epochs", "25", "--dropout", "0", "--learning-rate", "0.003",
        "--set", "train.warmup=10", "--patience", "0", "--set", "train.validate_every=50",
    )  # fmt: skip


def test_learned_and_measured_beside_the_state_alone(folder: Path, run: Done) -> None:
    assert run.returncode == 0, run.stderr
    assert "a state has 2 numbers: x, y" in run.stdout
    assert "left out: 1 episode of one step, such as '90'" in run.stdout
    assert "their returns go from 0 to 8" in run.stdout
    figures = json.loads(regard("evaluate", "run", "--json", "-", folder=folder).stdout)
    shares = {each["name"]: each["accuracy"] for each in figures["accuracies"]}
    assert shares["by chance"] == 0.5
    assert shares["last state, linear"] < 0.75
    assert shares["transformer"] > 0.9
    shown = regard("evaluate", "run", folder=folder).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "what it gets when it acts: --environment NAME" in shown
    whole = regard("evaluate", "run", "--episodes", "players.csv", "--json", "-", folder=folder)
    assert json.loads(whole.stdout)["episodes"] == 90


def test_an_action_and_what_it_looked_at(folder: Path, run: Done) -> None:
    done = regard("read", "--model", "run", "--episode", "7", "--at", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    episode = read_episodes(folder / "players.csv").of("7")
    left = int(episode.to_go()[2])
    assert done.stdout.startswith(f"episode 7, step 2, {left} still to come: {episode.actions[2]} ")
    content = json.loads(
        regard("read", "--model", "run", "--episode", "7", "--json", "-", folder=folder).stdout
    )
    assert content["step"] == len(episode) - 1
    assert sum(content["actions"].values()) == pytest.approx(1)
    assert sum(each["weight"] for each in content["read"]) == pytest.approx(1, abs=1e-5)
    kinds = [each["kind"] for each in content["read"]]
    assert kinds == (["return", "state", "action"] * 5)[: 3 * min(5, len(episode)) - 1]


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(folder: Path) -> None:
    for name, epochs in (("whole", "4"), ("halved", "2")):
        done = train(folder, name, "--model", "simple-rnn+attention", "--epochs", epochs,
                     "--set", "train.schedule=constant")  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = regard("train", "act", "-o", "halved", "--resume", "--epochs", "4", folder=folder)
    assert done.returncode == 0, done.stderr
    one, two = (folder / name / "model.safetensors" for name in ("whole", "halved"))
    assert one.read_bytes() == two.read_bytes()


def test_windows_have_every_step_once(folder: Path) -> None:
    part = EpisodeRows(read_episodes(folder / "players.csv").rows, ["0", "1"])
    lengths = [len(episode) for episode in part.episodes]
    for chance in (None, np.random.default_rng(1)):
        windows = part.windows(3, chance)
        steps = [(w.episode, t) for w in windows for t in range(w.start, w.stop)]
        assert sorted(steps) == [(row, t) for row, n in enumerate(lengths) for t in range(n)]
        assert max(w.stop - w.start for w in windows) == 3
    ends = part.each(3)
    assert len(ends) == sum(lengths)
    assert ends[:4] == [StepWindow(0, max(0, t - 2), t + 1) for t in range(3)] + [ends[3]]


def test_imitations_are_of_all_and_of_the_best(folder: Path) -> None:
    """Those with the most return are all of the good kind, whom a linear map can imitate."""
    data = EpisodesConfig(str(folder / "players.csv"), valid_share=0.15, test_share=0.15)
    divided = divided_episodes(data)
    found = imitations(divided)
    good = [episode for episode in divided.test if episode.rewards[0]]
    states = np.concatenate([e.states for e in good]).astype(np.float32)
    right = np.array([int(a) for e in good for a in e.actions])
    assert (found.best.say(states) == right).mean() > 0.9
    assert (found.least, found.most) == (0, 8)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("train", "act", "-o", "x"), "data.episodes is missing"),
        (("train", "act", "--episodes", "none.npz", "-o", "x"), "there are no episodes at"),
        (("train", "act", "--episodes", "players.csv", "--context", "0", "-o", "x"), "context m"),
        (
            ("train", "act", "--episodes", "players.csv", "--batch-tokens", "50", "-o", "x"),
            "train.batch_tokens (50) must hold data.context (20) steps of 3 pieces each",
        ),
        (("evaluate", "run", "--returns", "5"), "--returns is of acting: it goes with --environ"),
        (("evaluate", "run", "--environment", "E", "--returns", "5,x"), "--returns are at most 20"),
        (("evaluate", "run", "--episodes", "wide.csv"), "a state of 'run' has 2 numbers, one of"),
        (("evaluate", "run", "--episodes", "other.csv"), "'run' knows no action '7', which episo"),
        (("read", "--model", "run", "--episode", "400"), "there is no episode '400' among 90"),
        (("read", "--model", "run", "--episode", "90"), "episode '90' has one step"),
        (("read", "--model", "run", "--episode", "7", "--at", "99"), "episode '7' has the steps 0"),
        (("read", "--model", "run", "--episode", "7", "a text"), "--episode is read alone"),
        (("read", "--model", "run", "--episode", "7", "--layer", "9"), "layer must be from 0 to 1"),
        (("read", "--episode", "7"), "no actor comes with regard: --episode needs --model RUN"),
        (("read", "--episodes", "players.csv"), "--episodes goes with --episode"),
        (("read", "--model", "lstmn", "--episode", "7"), "holds no actor but a language model"),
    ],
)  # fmt: skip
def test_refused_in_one_line(
    folder: Path, run: Done, arguments: tuple[str, ...], said: str
) -> None:
    wide = "episode,step,x,action,reward\na,0,1,0,1\na,1,1,1,1\n"
    (folder / "wide.csv").write_text(wide)
    (folder / "other.csv").write_text("episode,step,x,y,action,reward\na,0,1,1,7,1\na,1,1,1,1,1\n")
    done = regard(*arguments, folder=folder)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_data_that_changed_or_moved(folder: Path, run: Done) -> None:
    text = (folder / "players.csv").read_text()
    try:
        (folder / "players.csv").write_text(text + "91,0,1,1,1,1\n91,1,1,1,1,1\n")
        done = regard("evaluate", "run", folder=folder)
        assert "has changed since 'run' was trained on it: give --episodes FILE" in done.stderr
        (folder / "players.csv").unlink()
        done = regard("evaluate", "run", folder=folder)
        assert "'run' was trained on 'players.csv': give --episodes FILE" in done.stderr
    finally:
        (folder / "players.csv").write_text(text)
