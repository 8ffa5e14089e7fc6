"""``regard heads`` as a person runs it; published figures of a real model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import regard
from tests.inside.hearing import save_wav2vec2, save_whisper
from tests.models.bert.tinybert import save_tiny
from tests.sounds import save_tone

TIRED = "The animal didn't cross the street because it was too tired"
WIDE = "The animal didn't cross the street because it was too wide"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny(folder)
    return folder


def weights(text: str, *link: str) -> dict[tuple[int, int], float]:
    done = regard("heads", "minilm", text, "--link", *link, "--json", "-")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert list(content) == ["model", "tokens", "heads"]
    assert content["model"] == "minilm"
    assert content["tokens"][10] == "it"
    assert len(content["heads"]) == 72
    for head in content["heads"]:
        assert list(head) == ["layer", "head", "kind", "scores", "weight"]
    order = [head["weight"] for head in content["heads"]]
    assert order == sorted(order, reverse=True)
    return {(head["layer"], head["head"]): head["weight"] for head in content["heads"]}


def test_what_minilm_does_with_it(minilm: Path) -> None:
    """Measured with Hugging Face's eager attention, to three decimals."""
    tired, wide = weights(TIRED, "it", "animal"), weights(WIDE, "it", "animal")
    assert list(tired)[:3] == [(5, 11), (3, 1), (5, 3)]
    rounded = {place: round(weight, 3) for place, weight in tired.items()}
    assert (rounded[5, 11], rounded[3, 1], rounded[5, 3]) == (0.647, 0.640, 0.250)
    assert round(wide[3, 1], 3) == 0.266
    street = weights(TIRED, "it", "street")[3, 1], weights(WIDE, "it", "street")[3, 1]
    assert [round(weight, 3) for weight in street] == [0.052, 0.128]


def test_the_ranking_on_a_terminal(minilm: Path) -> None:
    done = regard("heads", "minilm", TIRED, "--link", "it", "animal", "--top", "2")
    lines = done.stdout.splitlines()
    assert lines[0] == "minilm: 15 tokens, 72 heads (layers and heads from 0)"
    assert lines[3].split()[:2] == ["L5H11", "0.647"]
    assert lines[4].split()[:2] == ["L3H1", "0.640"]
    kinds = regard("heads", "minilm", TIRED).stdout
    assert "previous token       1  L0H2 1.00" in kinds
    assert max(map(len, kinds.splitlines())) <= 80


def test_by_kind(bert: Path) -> None:
    done = regard("heads", bert, "the cat sat on the mat", "--kind", "previous", "--json", "-")
    found = [head["scores"]["previous"] for head in json.loads(done.stdout)["heads"]]
    assert found == sorted(found, reverse=True)
    assert "weight" not in json.loads(done.stdout)["heads"][0]
    shown = regard("heads", bert, "the cat", "--kind", "repeat").stdout
    assert "same word again" in shown


def test_a_corpus(bert: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "texts.txt"
    corpus.write_text("the cat sat\n\n" + "the " * 50 + "\nthe animal was tired\n")
    done = regard("heads", bert, "--corpus", corpus, "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tokens"] == 5 + 6
    assert "2 texts, 11 tokens; 1 line longer than 23 tokens left out; 1 empty line" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["the cat", "--link", "cat", "dog"], "'dog' is not one of the words"),
        (["the cat", "--link", "cat", "the", "--kind", "same"], "by --link or by --kind, not both"),
        (["the cat", "--kind", "smae"], "'smae' is not one of 'previous', 'next'"),
        (["the cat", "--state", "x"], "--state goes with --corpus"),
        (["the cat", "--corpus", "x"], "--corpus takes the place of TEXT"),
        (["--corpus", "no/such"], "cannot read 'no/such'"),
        ([], "give a TEXT (- for standard input) or --file FILE; got neither"),
    ],
)
def test_mistakes(bert: Path, arguments: list[str], words: str) -> None:
    done = regard("heads", bert, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_a_corpus_without_texts(bert: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "texts.txt"
    corpus.write_text("\n\n")
    done = regard("heads", bert, "--corpus", corpus)
    assert "the corpus has no line that the model can read" in done.stderr
    assert done.returncode == 2


def test_what_the_model_cannot_read_is_told(bert: Path, tmp_path: Path) -> None:
    done = regard("heads", bert, "the 猫 sat", "--link", "sat", "the")
    assert done.returncode == 0
    assert f"note: not in the vocabulary of {bert.name}: '猫' (1 of 7 characters)" in done.stderr
    corpus = tmp_path / "texts.txt"
    corpus.write_text("the cat sat\nthe 猫 sat 😀\nthe 猫\n", encoding="utf-8")
    done = regard("heads", bert, "--corpus", corpus)
    assert done.stderr.splitlines()[-1] == (
        "regard: note: 3 of 15 tokens are text that is not in the vocabulary of "
        f"{bert.name}, such as '猫', '😀': use a model that reads bytes, such as smollm2"
    )


@pytest.fixture(scope="module")
def hearing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hearing")
    save_whisper(folder / "whisper")
    save_wav2vec2(folder / "wav2vec2")
    save_tone(folder / "a.wav", 440, 0.5)
    config = folder / "whisper" / "generation_config.json"
    content = json.loads(config.read_text()) | {"alignment_heads": [[0, 1], [2, 0]]}
    content.pop("_from_model_config", None)  # this one was written for the model
    config.write_text(json.dumps(content))
    return folder


def test_which_heads_align_words_with_time(hearing: Path) -> None:
    asked = ("heads", "whisper", "--sound", "a.wav", "--target", "one two seven")
    done = regard(*asked, "--json", "t.json", folder=hearing)
    assert done.returncode == 0, done.stderr
    assert "0.50 s in 25 pieces and 25 of padding, 3 tokens of text, 6 heads" in " ".join(
        done.stdout.split()
    )
    assert max(map(len, done.stdout.splitlines())) <= 80
    content = json.loads((hearing / "t.json").read_text())
    assert content["alignment_heads"] == [[0, 1], [2, 0]]
    scores = [head["score"] for head in content["heads"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= head["sound"] <= 1 for head in content["heads"])
    piped = regard(*asked, "--json", "-", folder=hearing)
    assert json.loads(piped.stdout) == content
    written = regard("heads", "whisper", "--sound", "a.wav", folder=hearing)  # what it writes
    assert written.returncode == 0, written.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("whisper", "a text", "--sound", "a.wav"), "--sound ranks heads by how they align words"),
        (("whisper", "--sound", "a.wav", "--kind", "first"), "it takes --target, --top, --json"),
        (("wav2vec2", "--sound", "a.wav"), "'wav2vec2' has no decoder, whose words could be align"),
        (("whisper", "--sound", "a.wav", "--target", "one"), "at least two tokens of text"),
        (("whisper", "--sound", "none.wav"), "none.wav"),
    ],
)
def test_sounds_that_are_refused(hearing: Path, arguments: tuple[str, ...], said: str) -> None:
    done = regard("heads", *arguments, folder=hearing)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.splitlines()[-1].startswith("regard: error:")
