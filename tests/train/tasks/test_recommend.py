"""Recommenders by the command: learned, measured, resumed to the bit, read, refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regard.pieces.history import Catalogue
from regard.train.data.histories import read_histories
from regard.train.tasks.recommend import in_numbers, shuffled, spread
from tests.cli.run import Done, regard


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Users who go round a ring of 23 items, each from another one on; one has a single item."""
    made = tmp_path_factory.mktemp("ring")
    chance = np.random.default_rng(3)
    lines = []
    for user in range(60):
        first, count = chance.integers(0, 23), chance.integers(5, 13)
        lines += [f"{user}\ti{(first + k) % 23}\t{k}\n" for k in range(count)]
    (made / "ring.tsv").write_text("user\titem\ttime\n" + "".join(lines) + "lonely\ti1\t1\n")
    (made / "titles.tsv").write_text("".join(f"i{k}\tThe film {k}\n" for k in range(23)))
    return made


def train(folder: Path, name: str, *more: str) -> Done:
    flags = ("--size", "tiny", "--epochs", "2", "--threads", "1", "--batch-tokens", "300")
    return regard(
        *("train", "recommend", "--history", "ring.tsv", *flags, *more, "-o", name), folder=folder
    )


@pytest.fixture(scope="module")
def run(folder: Path) -> Done:
    return train(
        folder, "run", "--items", "titles.tsv", "--epochs", "30", "--dropout", "0",
        "--learning-rate", "0.006",
        "--set", "train.warmup=10", "--patience", "0", "--set", "train.validate_every=30",
    )  # fmt: skip


def test_learned_and_measured_beside_the_baselines(folder: Path, run: Done) -> None:
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].startswith("60 users, ")
    assert "left out: 1 user with fewer than 3 items, such as 'lonely'" in lines
    assert "to beat, validation NDCG@10 in hundredths: popularity" in run.stdout
    figures = json.loads(regard("evaluate", "run", "--json", "-", folder=folder).stdout)
    own, popular, chain = figures["rankings"]
    assert [popular["name"], chain["name"]] == ["popularity", "last item (Markov)"]
    assert own["ndcg"]["value"] > 0.8 > popular["ndcg"]["value"]
    assert chain["hr"]["value"] > 0.9
    assert figures["ahead"]["of"] == "last item (Markov)"
    shown = regard("evaluate", "run", folder=folder).stdout
    assert "60 users; all 23 items are ranked, but those that the user had" in shown
    assert max(map(len, shown.splitlines()[:6])) <= 80


def test_a_recommendation_and_what_it_looked_at(folder: Path, run: Done) -> None:
    done = regard("read", "--model", "run", "--user", "7", folder=folder)
    assert done.returncode == 0, done.stderr
    history = read_histories(folder / "ring.tsv").of("7")
    after = (int(history.items[-1][1:]) + 1) % 23
    assert done.stdout.splitlines()[1].endswith(f"The film {after}")
    assert "looked at (layer 1, mean of 4 heads), in hundredths" in done.stdout
    content = json.loads(
        regard("read", "--model", "run", "--user", "7", "--json", "-", folder=folder).stdout
    )
    assert content["recommended"][0]["item"] == f"i{after}"
    assert sum(each["probability"] for each in content["recommended"]) == pytest.approx(1)
    assert not {r["item"] for r in content["recommended"]} & set(history.items)
    weights = [each["weight"] for each in content["read"]] + [content["beginning"]]
    assert sum(weights) == pytest.approx(1, abs=1e-5)
    assert [each["row"] for each in content["read"]] == list(range(1, len(history.items) + 1))


def test_what_a_recommendation_depends_on(folder: Path, run: Done) -> None:
    done = regard("ablate", "run", "--user", "7", "--json", "-", folder=folder)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    history = read_histories(folder / "ring.tsv").of("7")
    assert len(content["effects"]) == len(history.items)
    changes = [effect["change"] for effect in content["effects"]]
    assert int(np.argmin(changes)) == len(changes) - 1  # the last item decides what comes next
    shown = regard("ablate", "run", "--user", "7", "--top", "2", folder=folder).stdout
    assert f"The film {history.items[-1][1:]}" in shown
    assert f"over {len(changes)} items" in shown
    aimed = regard("ablate", "run", "--user", "7", "--target", "The film 99", folder=folder)
    assert "the model knows no item 'The film 99'" in aimed.stderr


def test_a_run_that_was_stopped_goes_on_to_the_same_weights(folder: Path) -> None:
    for name, epochs in (("whole", "4"), ("halved", "2")):
        done = train(folder, name, "--model", "lstmn", "--epochs", epochs,
                     "--set", "train.schedule=constant")  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = regard("train", "recommend", "-o", "halved", "--resume", "--epochs", "4", folder=folder)
    assert done.returncode == 0, done.stderr
    one, two = (folder / name / "model.safetensors" for name in ("whole", "halved"))
    assert one.read_bytes() == two.read_bytes()


def test_ties_are_shuffled_and_nothing_else() -> None:
    chance = np.random.default_rng(0)
    items, tied = [1, 2, 3, 4, 5, 6], [False, True, True, False, False, True]
    drawn = [shuffled(items, tied, chance) for _ in range(50)]
    assert {tuple(sorted(d[:3])) for d in drawn} == {(1, 2, 3)}
    assert {d[3] for d in drawn} == {4}
    assert len({tuple(d) for d in drawn}) == 12  # 3! orders of the first three, 2! of the last two


def test_equal_times_and_repeated_items_are_said(folder: Path) -> None:
    lines = [f"{user}\ti{k % 3}\t{k // 2}\n" for user in range(4) for k in range(5)]
    (folder / "again.tsv").write_text("".join(lines))
    done = train(folder, "again", "--history", "again.tsv")
    assert done.returncode == 0, done.stderr
    assert "warning: 40% of the events have the time of the user's event before them" in done.stdout
    assert "some of the users have an item twice: what a user had can be recommended" in done.stdout
    assert "those that a user had too" in regard("evaluate", "again", folder=folder).stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--history", "none.tsv"), "none.tsv"),
        (("--history", "few.tsv"), "no user has 3 items: one to train on, one to validate and one"),
        (("--history", "same.tsv"), "there is one item, 'a': nothing to choose from"),
        (("--columns", "user=1"), "columns are written user=NAME,item=NAME,time=NAME; got"),
        (("--set", "data.max_length=400"), "must hold a history of data.max_length (400) items"),
        (("--model", "markov"), "model must be one of simple-rnn"),
        (("--vocabulary", "9"), "No such option '--vocabulary'"),
        (("--set", "data.vocabulary=9"), "there is no setting data.vocabulary"),
    ],
)
def test_refused_in_one_line(folder: Path, more: tuple[str, ...], said: str) -> None:
    (folder / "few.tsv").write_text("u\ta\t1\nv\tb\t1\n")
    (folder / "same.tsv").write_text("u\ta\t1\nu\ta\t2\nu\ta\t3\n")
    done = train(folder, "refused", *more)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "refused" / "config.json").exists()


def test_a_table_that_changed_is_not_measured(folder: Path) -> None:
    lines = (folder / "ring.tsv").read_text()
    (folder / "own.tsv").write_text(lines)
    train(folder, "own", "--history", "own.tsv")
    (folder / "own.tsv").write_text(lines + "0\ti9\t99\n")
    done = regard("evaluate", "own", folder=folder)
    assert done.returncode == 2
    assert "is not the table that 'own' was trained on, or has changed" in done.stderr
    moved = regard("evaluate", "own", "--history", "ring.tsv", "--json", "-", folder=folder)
    assert json.loads(moved.stdout)["users"] == 60


def test_items_that_the_catalogue_does_not_have_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("u\ta\t1\nu\tx\t2\nu\tb\t2\nu\tc\t3\nv\tx\t1\n")
    corpus = in_numbers(read_histories(tmp_path / "t.tsv"), Catalogue(["a", "b", "c"]))
    assert corpus.users == [[4, 5, 6]]
    assert corpus.few == ["v"]
    assert corpus.train == [[4]]
    assert corpus.trials(2) == [([4], 5)]
    assert corpus.trials(1) == [([4, 5], 6)]
    assert len(spread(corpus.trials(1) * 9, 4)) == 4
