"""``regard words``, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli import main

TEXT = "machine learning is fascinating\nnatural language processing is important\n"
VECTORS = "the 1 0\ncat 0 2\n猫 1 2\n[bold]\x1b[31m 3 4\n"


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["words", *arguments])
    output = capsys.readouterr()
    return int(ended.value.code or 0), output.out, output.err


def test_train_then_show_the_tutorial_vector_in_real_processes(tmp_path: Path) -> None:
    (tmp_path / "three.txt").write_text(
        TEXT + "word embeddings capture semantic relations\n", encoding="utf-8"
    )

    def regard(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", "from regard.cli import main; main()", "words", *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=True, encoding="utf-8",
        )  # fmt: skip
        assert "\x1b" not in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80
        return done.stdout

    said = " ".join(regard("train", "three.txt", "-o", "three.vec", "--min-count", "1").split())
    assert "These are untrained vectors" in said
    assert "it skipped 63 of 70" in said
    shown = regard("show", "three.vec", "machine")
    assert "[-1.9442164e-03 -5.2675214e-03  9.4471136e-03 -9.2987325e-03" in shown
    assert "These look untrained" in shown


def test_train_writes_json_and_the_same_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out.bin.gz"
    text.write_text(TEXT)
    options = ["--min-count", "1", "--skip-gram", "--sample", "0", "--epochs", "300"]
    code, said, _ = run(capsys, "train", str(text), "-o", str(out), *options, "--json", "-")
    result = json.loads(said)
    assert code == 0
    assert result["settings"]["algorithm"] == "skipgram"
    assert (result["sentences"], result["text_words"], result["vocabulary"]) == (2, 9, 8)
    assert result["trained"] == 9 * 300
    assert not result["untrained"]
    assert out.exists()


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("x.npy", "must end in .txt or .vec"),
        ("none/x.vec", "its folder does not exist"),
        ("text.txt", "would replace the text"),
    ],
)
def test_train_refuses_an_impossible_out_before_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str, message: str
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(TEXT)
    code, _, error = run(capsys, "train", str(text), "-o", str(tmp_path / out))
    assert code == 2
    assert message in error
    assert text.read_text() == TEXT


def test_nearest(vectors: str, capsys: pytest.CaptureFixture[str]) -> None:
    """cos(cat, 猫) = 2/√5, cos(cat, (3, 4)) = 4/5."""
    code, said, _ = run(capsys, "nearest", vectors, "Cat", "-k", "2")
    assert code == 0
    assert "'Cat' is not there; its lower case 'cat' is." in said
    assert [line.split() for line in said.splitlines()[-2:]] == [
        ["1", "猫", "0.8944"],
        ["2", "[bold]\\x1b[31m", "0.8000"],
    ]


def test_sentence_names_and_counts_the_unknown(
    vectors: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said, _ = run(capsys, "sentence", vectors, "The cat sat [sat] 猫")
    assert code == 0
    assert "Known (3 of 7): 'The', 'cat', '猫'" in said
    assert "Found in lower case only (1): 'The'" in said
    assert "Unknown, not in the average (4): 'sat' ×2, '[', ']'" in said
    assert "[0.6666667 1.3333334]" in said
    _, said, _ = run(capsys, "sentence", vectors, "cat dog", "--json", "-")
    assert json.loads(said) == {
        "known": [{"token": "cat", "word": "cat"}],
        "unknown": ["dog"],
        "vector": [0, 2],
        "untrained": False,
    }


def test_show(vectors: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, said, _ = run(capsys, "show", vectors, "--json", str(tmp_path / "x.json"))
    assert said.split()[:6] == ["Format:", "glove", "Words:", "4", "Width:", "2"]
    assert "\x1b" not in said
    assert json.loads((tmp_path / "x.json").read_text())["first"][1] == "cat"
    _, said, _ = run(capsys, "show", vectors, "猫")
    assert said == "'猫': row 3 of 4, width 2, norm 2.23607\n[1. 2.]\n"


def test_repeated_words_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.vec"
    path.write_text("3 1\na 1\nb 2\na 3\n")
    code, _, error = run(capsys, "show", str(path))
    assert code == 0
    assert error == ("regard: note: 1 row repeats a word and was left out, the first kept: 'a'\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nearest", "cats"], "'cats' is not among the 4 words; did you mean 'cat'?"),
        (["nearest", "\x1b[31m"], "\\x1b[31m"),
        (["nearest", "cat", "-k", "0"], "must be at least 1; got 0"),
        (["sentence", ""], "holds no words"),
        (["sentence", "dog"], "nothing to average; unknown: 'dog'"),
        (["show", "--format", "word2vec"], "GloVe files have none"),
        (["show", "--encoding", "klingon"], "no encoding is called"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    vectors: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, said, error = run(capsys, arguments[0], vectors, *arguments[1:])
    assert (code, said) == (2, "")
    assert message in error
    assert error.count("\n") == 1
    assert "\x1b" not in error
