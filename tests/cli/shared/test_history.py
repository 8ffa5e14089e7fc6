"""A user of a table, read by a recommender of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from regard.models.language import LanguageModel, sized
from regard.pieces.history import Catalogue
from regard.store.folder import ITEMS, RunFolder
from regard.store.weights import write_weights
from regard.train.data.histories import read_histories
from tests.browser import Open
from tests.cli.run import regard


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an untrained recommender without attention, and its table."""
    return made(tmp_path_factory.mktemp("items"), "lstm")


def made(folder: Path, design: str) -> Path:
    table = folder / "events.tsv"
    table.write_text("u\ta\t1\nu\tb\t2\nu\tc\t3\nv\ta\t1\n")
    torch.manual_seed(2)
    catalogue = Catalogue(list("abcde"))
    config = sized(design, "tiny", len(catalogue))
    run = RunFolder(folder / "run")
    run.write_config(
        {
            "task": "recommend",
            "data": {"history": str(table), "max_length": 2},
            "model": config.to_dict(),
            "train": {},
            "made": {"history": read_histories(table).digest()},
        }
    )
    (run.path / ITEMS).write_text(catalogue.to_text())
    write_weights(run.model, LanguageModel(config).state_dict())
    return run.path


def test_a_model_without_attention_and_a_user_with_one_item(run: Path) -> None:
    done = regard("read", "--model", run, "--user", "u")
    assert done.stdout.startswith("user u: 3 items, of which the last 2 are read; recommended:")
    assert "lstm has no attention" in done.stdout
    one = regard("read", "--model", run, "--user", "v")
    assert one.stdout.startswith("user v: 1 item; recommended:")


def test_the_page_of_a_history(tmp_path: Path, opened: Open) -> None:
    run = made(tmp_path, "transformer")
    done = regard("read", "--model", run, "--user", "u", "--html", "u.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Written: u.html\n" in done.stdout
    sheet = opened(tmp_path / "u.html", reduced_motion="reduce")
    page = sheet.page
    assert page.inner_text("#tab-sentence") == "History"
    rows = page.locator(".field.list .rows > div")
    shown = [rows.nth(i).locator("span").all_inner_texts() for i in range(rows.count())]
    assert [row[:3] for row in shown] == [["2", "2", "b"], ["3", "3", "c"]]
    assert page.locator(".box.chosen").get_attribute("aria-label") == "c"
    assert page.locator(".piece-chip").inner_text() == "<s>"
    assert "recommended: " in page.inner_text("header")
    sheet.clean()


def test_another_table_with_items_that_are_unknown(run: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.tsv"
    own.write_text("me\tz\t1\nme\td\t2\n")
    done = regard("read", "--model", run, "--user", "me", "--history", own)
    assert done.returncode == 0, done.stderr
    assert "1 item that the model does not know left out, such as 'z'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("read", "--user", "w"), "there is no user 'w' among 2 (such as u, v)"),
        (("read", "--user", "u", "--html", "u.html"), "lstm has no attention, and a page shows"),
        (("read", "--user", "u", "--layer", "0"), "lstm has no attention: leave --layer out"),
        (("read", "--user", "u", "a text"), "--user is read alone"),
        (("read", "--history", "x.tsv", "a text"), "--history goes with --user"),
        (("ablate", "--user", "u", "--word", "a"), "--user erases each item of a history"),
        (("ablate", "a text", "--history", "x.tsv"), "--history goes with --user"),
    ],
)
def test_refused_in_one_line(run: Path, arguments: tuple[str, ...], said: str) -> None:
    command, *rest = arguments
    model = ["--model", str(run)] if command == "read" else [str(run)]
    done = regard(command, *model, *rest)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
