"""``regard explain --whole``: a word followed to the prediction."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.run import regard
from tests.cli.shared.test_head import TIRED, WIDE, flat


def test_the_whole_way_of_a_word(tmp_path: Path) -> None:
    """The translator that comes with regard: to the next word, and who said it; JSON beside it."""
    file = tmp_path / "way.json"
    done = regard(
        *("explain", "Der Hund schläft.", "--whole", "--parts", "--model", "transformer"),
        *("--word", "dog", "--top", "3", "--json", file),
    )
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert "'▁is'" in text
    assert "Who said '▁is'?" in text
    assert "Proof: in every token the 9 sums above hold" in text
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    content = json.loads(file.read_text(encoding="utf-8"))
    assert len(content["predictions"]) == 3
    assert content["parts"]["difference"] < 1e-4


@pytest.mark.usefixtures("minilm")
def test_two_sentences_compared() -> None:
    done = regard("explain", TIRED, "--whole", "--word", "it", "--compare", WIDE)
    assert done.returncode == 0
    similarity = re.search(r"s · s' = ([\d.]+)", done.stdout)
    assert similarity is not None
    assert 0.5 < float(similarity[1]) < 1
    assert "384 numbers of the last vector" in flat(done.stdout)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["--parts"], "--parts does not apply here: it goes with --whole"),
        (["--whole", "--head", "1"], "--head does not apply here: --whole follows a word"),
        (["--whole", "--said", "x"], "--said names the word whose logit is split"),
        (["--whole", "--model", "transformer", "--layer", "3"], "layers are counted from 0"),
        (["--whole", "--model", "transformer", "--word", "xyz"], "'xyz' is not one of the words"),
        (["--whole", "--parts"], "minilm puts out the sentence vector: only the score of a word"),
    ],
)
@pytest.mark.usefixtures("minilm")
def test_what_the_whole_way_does_not_take(given: list[str], error: str) -> None:
    done = regard("explain", TIRED, *given)
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
