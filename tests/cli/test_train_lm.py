"""regard train lm and classify, then evaluate: every design, and bad input in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.store.folder import load_language_model
from tests.cli.run import Done, regard

SENTENCES = [f"{a} {b} {c} ." for a in ("we", "you", "they") for b in ("see", "like", "want", "buy")
             for c in ("tea", "cats", "dogs", "books")]  # fmt: skip
Arguments = list[str | Path]
TINY: Arguments = ["--size", "tiny", "--steps", "2", "--batch-tokens", "102", "--threads", "1",
        "--set", "data.valid_share=0.2", "--set", "data.test_share=0.2"]  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("\n".join(SENTENCES) + "\n")
    return path


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "labelled"
    path.write_text("".join(f"{s.split()[0]}\t{s}\n" for s in SENTENCES))
    return path


@pytest.fixture(scope="module")
def lm(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "lm"
    done = regard("train", "lm", "--text", text, "--model", "lstm", *TINY, "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def classifier(labelled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "classifier"
    command: Arguments = [
        "train",
        "classify",
        "--data",
        labelled,
        "--model",
        "words",
        *TINY,
        "-o",
        folder,
    ]
    done = regard(*command)
    assert done.returncode == 0, done.stderr
    return folder


def refused(done: Done) -> str:
    """The one line that the command refused with."""
    assert done.returncode == 2
    assert done.stderr.startswith("regard: error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.mark.parametrize("model", ["simple-rnn+attention", "lstmn", "transformer"])
@pytest.mark.parametrize("level", ["bpe", "word"])
def test_designs_train(model: str, level: str, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = regard(
        "train", "lm", "--text", text, "--model", model, "--level", level, *TINY, "-o", folder
    )
    assert done.returncode == 0, done.stderr
    assert "perplexity: per token, the end of each line counted as one; each line" in done.stdout
    assert "done (steps) after 2 updates" in done.stdout
    assert "validation perplexity" in done.stdout
    model_there, tokens = load_language_model(folder)
    assert model_there.config.model == model
    assert model_there.config.vocabulary == len(tokens)
    config = json.loads((folder / "config.json").read_text())
    assert (config["task"], config["data"]["level"]) == ("lm", level)


def test_continuous(text: Path, tmp_path: Path) -> None:
    command: Arguments = [
        "train",
        "lm",
        "--text",
        text,
        "--continuous",
        "--model",
        "lstm",
        *TINY,
    ]
    done = regard(*command, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "the text is one stream, the state goes on from line to line" in done.stdout
    assert (tmp_path / "run" / "test.txt").read_text() == "".join(f"{s}\n" for s in SENTENCES[-10:])
    done = regard("evaluate", tmp_path / "run")
    assert "10 lines, 50 tokens" not in done.stdout, "pieces are more than words"
    assert "the text is one stream" in done.stdout


def test_a_table_and_repeated_sentences(tmp_path: Path) -> None:
    rows = [f"{i}\t{s}\n" for i in range(2) for s in SENTENCES]
    (tmp_path / "table").write_text("".join(rows))
    command: Arguments = [
        "train",
        "lm",
        "--text",
        tmp_path / "table",
        "--column",
        "2",
        "--unique",
        *TINY,
    ]
    done = regard(*command, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "left out: 48 lines that repeat an earlier one" in done.stdout


def test_evaluate_a_language_model(lm: Path, tmp_path: Path) -> None:
    done = regard("evaluate", lm, "--json", tmp_path / "f.json")
    assert "perplexity" in done.stdout
    assert "per word between spaces" in done.stdout
    figures = json.loads((tmp_path / "f.json").read_text())
    assert figures["word_perplexity"] > figures["perplexity"] > 1
    assert figures["sentences"] == (lm / "test.txt").read_text().count("\n")
    (tmp_path / "own").write_text("x\twe see tea .\n\n")
    own = regard("evaluate", lm, "--text", tmp_path / "own", "--column", "2", "--json", "-")
    found = json.loads(own.stdout)
    assert (found["sentences"], found["words"], found["empty"]) == (1, 5, 1)


def test_evaluate_a_classifier(classifier: Path, labelled: Path) -> None:
    done = regard("evaluate", classifier, "--data", labelled, "--show", "2")
    lines = done.stdout.splitlines()
    assert lines[0] == "48 sentences"
    assert lines[1].startswith("accuracy ")
    assert lines[1].endswith("(always the commonest label: 33.33 %)")
    assert "we₂₅ see₂₅ tea₂₅ .₂₅" in lines
    found = json.loads(regard("evaluate", classifier, "--data", labelled, "--json", "-").stdout)
    counts = found["confusion"]
    assert found["labels"] == ["they", "we", "you"]
    assert sum(map(sum, counts)) == 48
    assert found["accuracy"] == pytest.approx(sum(counts[i][i] for i in range(3)) / 48)


def test_what_does_not_go_with_the_model(lm: Path, classifier: Path, tmp_path: Path) -> None:
    text = refused(regard("evaluate", lm, "--beam", "3"))
    assert "--beam is not for a language model" in text
    assert "it takes --text, --column" in text
    text = refused(regard("evaluate", classifier, "--text", "x"))
    assert "--text is not for a classifier" in text
    text = refused(regard("evaluate", "bahdanau", "--data", "x"))
    assert "--data is not for a translator" in text
    text = refused(regard("evaluate", "bahdanau"))
    assert "'bahdanau' has no test pairs of its own: give --pairs FILE" in text
    assert "neither a folder nor a model" in refused(regard("evaluate", "nowhere"))
    (tmp_path / "bad").write_text("nobody\tx\n")
    text = refused(regard("evaluate", classifier, "--data", tmp_path / "bad"))
    assert "the label 'nobody' does not occur in training, which has they, we, you" in text
    text = refused(regard("translate", "a", "--model", lm))
    assert "holds no translator but a language model" in text


def test_runs_of_one_kind_are_not_resumed_as_another(lm: Path) -> None:
    text = refused(regard("train", "classify", "-o", lm, "--resume"))
    assert "is a run of 'regard train lm', not of 'regard train classify'" in text


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--model", "lstmm"], "did you mean 'lstm' or 'lstmn'"),
        (["--model", "lstm", "--set", "model.window=3"], "lstm has no window"),
        (["--model", "lstmn", "--continuous"], "model.window is missing"),
        (["--level", "char"], "data.level must be one of bpe, word, space, got 'char'"),
        (["--column", "2"], "line 1: column 2 is wanted"),
        (["--vocabulary", "5000"], "5000 is larger than the text allows"),
        (["--valid", "nowhere.txt"], "cannot read 'nowhere.txt'"),
        (["--max-length", "101"], "must hold a sentence of data.max_length (101)"),
        (["--set", "data.txt=1"], "there is no setting data.txt; did you mean 'text'"),
        (["--max-length", "1"], "are longer than 1 tokens: raise data.max_length"),
        (["--continuous", "--set", "data.chunk=1000"], "must hold a data.chunk (1000)"),
    ],
)
def test_bad_settings(more: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("\n".join(SENTENCES))
    done = regard("train", "lm", "--text", tmp_path / "text", *TINY, *more, "-o", tmp_path / "run")
    assert text in refused(done)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "more", "text"),
    [
        ("0 a\n1 b\n", ["--model", "words", "--set", "model.hidden=3"], "words has no hidden"),
        ("0 a\n1 b\n", ["--model", "word"], "did you mean 'words'"),
        ("a\nb\n", [], "none of the 2 lines"),
        ("1 a\n1 b\n", [], "nothing to tell apart"),
    ],
)
def test_bad_labelled_files(content: str, more: list[str], text: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text(content)
    command: Arguments = ["train", "classify", "--data", tmp_path / "data", *TINY, *more]
    assert text in refused(regard(*command, "-o", tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_control_characters_in_labels_cannot_act(tmp_path: Path) -> None:
    rows = [f"{'red' if i % 2 else chr(27) + '[31mx'}\tword{i} here\n" for i in range(60)]
    (tmp_path / "data").write_text("".join(rows))
    done = regard("train", "classify", "--data", tmp_path / "data", *TINY, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    shown = regard("evaluate", tmp_path / "run", "--show", "2").stdout
    assert "\x1b" not in done.stdout + shown
    assert "\\x1b[31mx" in shown
