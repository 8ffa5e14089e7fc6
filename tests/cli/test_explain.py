"""``regard explain`` as a person runs it: the six steps, widths, JSON, mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from safetensors.numpy import save_file

from regard.trace import Trace
from tests.cli.run import regard, regard_process
from tests.cli.test_check import CORRECTED
from tests.store.exchange.small import saved, translator

WORDS = ["the", "cat", "sat", "on", "mat", "猫", "犬"]


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GloVe file of width 7; the numbers are arbitrary but fixed."""
    values = np.random.default_rng(5).standard_normal((len(WORDS), 7)).astype(np.float32)
    lines = [f"{w} {' '.join(map(str, row))}" for w, row in zip(WORDS, values, strict=True)]
    file = tmp_path_factory.mktemp("vectors") / "glove.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_six_steps_of_the_corrected_tutorial() -> None:
    done = regard("explain", "--example", CORRECTED, "--word", "x1")
    assert done.returncode == 0
    assert done.stderr == ""
    text = done.stdout
    titles = re.findall(r"(?m)^(\d)  (\w[\w ,]*?)  ", text)
    assert titles == [
        ("0", "Vectors"),
        ("1", "Queries, keys and values"),
        ("2", "Scores"),
        ("3", "Scaled scores"),
        ("4", "Weights"),
        ("5", "Weighted values"),
        ("6", "Their sum"),
    ]
    assert "q of x1 = [0.8000 0.6000 0.5000]" in text
    assert "x2 0.4488 ██" in flat(text)
    assert "c of x1 = [0.6620 0.7522 0.7869]" in text
    assert "e[i,j] / sqrt(3)" in text
    assert text.count("Matrix form:") == 8
    assert "\x1b" not in text


def test_two_heads_show_the_multi_head_steps_and_the_mask() -> None:
    done = regard("explain", "--example", "two-heads", "--word", "bread#2", "--head", "1")
    text = flat(done.stdout)
    assert done.returncode == 0
    assert "head 1 of 2 (from 0)" in text
    assert "butter 0.8944" in text or "butter 0.8943" in text
    assert "rose 0.0000 masked" in text
    assert "3b Mask may i attend to j?" in text
    assert "rose -inf" in text
    assert "7 All heads, side by side" in text
    assert "8 Output" in text


@pytest.mark.parametrize("columns", ["50", "80", "200"])
def test_lines_fit_the_terminal(
    vectors: Path, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    sentence = "猫 犬 the cat sat on the mat"
    done = regard("explain", sentence, "--vectors", vectors, "--word", "猫")
    assert done.returncode == 0
    assert max(map(cell_len, done.stdout.splitlines())) <= int(columns)


def test_cjk_columns_are_aligned(vectors: Path) -> None:
    done = regard("explain", "猫 cat 犬", "--vectors", vectors, "--form", "vector")
    start = done.stdout.index("4  Weights")
    rows = done.stdout[start : done.stdout.index("5  Weighted")].splitlines()
    rows = [row for row in rows if re.match(r" +(猫|cat|犬) ", row)]
    assert len(rows) == 3
    assert len({cell_len(row[: row.index("0.")]) for row in rows}) == 1


def test_simple_attention_of_a_sentence_equals_numpy(vectors: Path) -> None:
    done = regard("explain", "the cat sat", "--vectors", vectors, "--word", "sat", "--json", "-")
    trace = Trace.from_dict(json.loads(done.stdout))
    lines = vectors.read_text(encoding="utf-8").splitlines()[:3]
    x = np.stack([np.array(line.split()[1:], float) for line in lines])
    x = x.astype(np.float32).astype(np.float64)
    e = np.exp(x @ x.T)
    np.testing.assert_allclose(trace.value("weights"), e / e.sum(1, keepdims=True), rtol=1e-12)
    assert trace.tokens == ["the", "cat", "sat"]


def test_positions_tell_equal_words_apart(vectors: Path) -> None:
    without = regard("explain", "the cat sat on the mat", "--vectors", vectors)
    assert "'the' stands at 1 and 5; its outputs are equal: without positions" in flat(
        without.stdout
    )
    with_them = regard(
        "explain", "the cat sat on the mat", "--vectors", vectors, "--positions", "sinusoidal"
    )
    assert re.search(
        r"its outputs differ by up to [\d.]+: positions tell them apart", flat(with_them.stdout)
    )
    assert "+ [0.000 1.000 0.000 1.000" in flat(with_them.stdout)


def test_seeded_matrices_are_called_untrained_and_are_reproducible(vectors: Path) -> None:
    arguments = ("the cat sat", "--vectors", vectors, "--mechanism", "scaled", "--seed", "3")
    first, second = regard("explain", *arguments), regard_process("explain", *arguments)
    assert "random (seed 3) and untrained" in flat(first.stdout)
    assert first.stdout == second.stdout


def test_weights_from_a_file(vectors: Path, tmp_path: Path) -> None:
    file = tmp_path / "w.safetensors"
    eye = np.eye(7, dtype=np.float32)
    save_file({"w_q": eye, "w_k": eye, "w_v": eye}, file)
    done = regard(
        "explain", "the cat", "--vectors", vectors, "--mechanism", "scaled", "--weights", file
    )
    assert done.returncode == 0
    assert "untrained" not in done.stdout


def test_json_file_is_the_trace(tmp_path: Path) -> None:
    done = regard("explain", "--example", CORRECTED, "--json", tmp_path / "t.json")
    assert done.returncode == 0
    trace = Trace.load(tmp_path / "t.json")
    assert [s.name for s in trace] == [
        *("input", "queries", "keys", "values", "scores", "scaled", "weights"),
        *("weighted_values", "context"),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "explain takes a sentence, --file FILE or --example FILE; got none"),
        (["hi", "--example", "x.toml"], "got 2 of them"),
        (["the cat", "--causal"], "a sentence needs a vector for each word: give --vectors FILE"),
        (["the", "--vectors", "V", "--layer", "1"], "--layer does not apply here: it goes with a"),
        (["--example", str(CORRECTED), "--compare", "x"], "--compare does not apply here"),
        (["--example", str(CORRECTED), "--all"], "--all does not apply here"),
        (["", "--vectors", "V"], "empty"),
        (["the dog", "--vectors", "V"], "1 of 2 words have no vector: 'dog'"),
        (["the cat", "--vectors", "V", "--word", "cta"], "'cta' is not one of the words 'the cat';"
         " did you mean 'cat'?"),
        (["the cat", "--vectors", "V", "--word", "cat#2"], "'cat' occurs 1 times, got 'cat#2'"),
        (["the cat", "--vectors", "V", "--mechanism", "scaled"], "name a seed (--seed 7)"),
        (["the cat", "--vectors", "V", "--seed", "1"], "simple self-attention has no weight"),
        (
            ["the cat", "--vectors", "V", "--mechanism", "multihead", "--seed", "1"],
            "heads must divide the width of the vectors: 7 cannot be cut into 2 equal parts",
        ),
        (["--example", "nowhere.toml"], "cannot read 'nowhere.toml': No such file"),
        (["the cat", "--vectors", "nowhere.txt"], "nowhere.txt"),
        (
            ["--example", str(CORRECTED), "--causal"],
            "--causal does not apply here: with --example the file says this",
        ),
        (["--example", str(CORRECTED), "--seed", "3"], "--seed does not apply here"),
        (["the", "--vectors", "V", "--heads", "3"], "--heads does not apply here: only"),
        (["the", "--vectors", "V", "--key-width", "3"], "--key-width does not apply here"),
        (["the", "--vectors", "V", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["the cat", "--vectors", "V", "--word", "dog", "--json", "-"], "'dog' is not one of"),
        (
            ["--example", str(CORRECTED), "--head", "1"],
            "heads are counted from 0: --head must be below 1, got 1",
        ),
        (
            ["the", "--vectors", "V", "--mechanism", "scaled", "--weights", str(CORRECTED)],
            "is not a safetensors file",
        ),
        (["--example", str(CORRECTED), "--json", "/nowhere/t.json"], "cannot write '/nowhere/t.js"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line_and_exit_2(vectors: Path, arguments: list[str], words: str) -> None:
    done = regard("explain", *(str(vectors) if a == "V" else a for a in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_unknown_words_are_left_out_only_when_asked_and_named(vectors: Path) -> None:
    done = regard("explain", "the dog sat", "--vectors", vectors, "--skip-unknown")
    assert done.returncode == 0
    assert "Left out, because they have no vector: 'dog'." in done.stdout


def test_lower_case_forms_are_used_and_said(vectors: Path) -> None:
    done = regard("explain", "The cat SAT", "--vectors", vectors, "--word", "SAT")
    assert done.returncode == 0
    assert "Found in lower case only: The → the, SAT → sat." in done.stdout


def test_a_long_sentence_shows_the_strongest_words_and_counts_the_rest(vectors: Path) -> None:
    done = regard("explain", "the cat sat on the mat " * 20, "--vectors", vectors)
    assert done.returncode == 0
    assert re.search(r"and 96 more words, together 0\.\d{4}", done.stdout)


def test_a_very_long_sentence_does_not_fill_the_screen_with_itself(vectors: Path) -> None:
    done = regard("explain", "the cat sat on the mat " * 300, "--vectors", vectors)
    assert "… (1800 words)" in flat(done.stdout)
    assert len(done.stdout.splitlines()) < 250


@pytest.mark.parametrize(("form", "other"), [("vector", "Matrix form"), ("matrix", "q of x1")])
def test_only_one_form(form: str, other: str) -> None:
    done = regard("explain", "--example", CORRECTED, "--form", form)
    assert done.returncode == 0
    assert other not in done.stdout


def test_an_example_that_begins_later_is_shown_whole() -> None:
    done = regard("explain", "--example", "illustrated-transformer")
    assert done.returncode == 0, done.stderr
    assert "   Thinking [  0.8808   0.1192]\n" in done.stdout
    assert done.stdout.endswith("All 4 numbers are right.\n")
    done = regard("explain", "--example", "illustrated-transformer", "--word", "Machines")
    assert done.stderr == (
        "regard: error: --word does not apply here: every step of this example is shown whole\n"
    )
    done = regard("explain", "--example", "illustrated-transformer", "--json", "-")
    assert [step["name"] for step in json.loads(done.stdout)["steps"]] == [
        *("scores", "scaled", "weights"),
    ]


def test_claims_stand_beside_what_is_right(tmp_path: Path) -> None:
    done = regard("explain", "--example", "tutorial-printed", "--html", tmp_path / "t.html")
    assert done.returncode == 0, done.stderr
    assert "[0.5987 0.5987 0.5799]  claimed" in done.stdout
    assert "9 of 19 numbers are wrong" in done.stdout
    page = (tmp_path / "t.html").read_text()
    assert '<td class="wrong" data-at="0">✗ 0.5987</td>' in page
    assert "0.5987 is what you get if softmax is taken of each score alone" in page
    assert '<script type="module">' in page


def test_a_page_of_what_is_no_attention_has_its_steps_alone(tmp_path: Path) -> None:
    file = tmp_path / "norm.toml"
    file.write_text(
        'mechanism = "layer-norm"\nx = [[1, 3]]\nepsilon = 0\ntitle = "<b>"\n'
        "[claims]\nvariance = [2]\nnormalised = [[-1, 1]]"
    )
    done = regard("explain", "--example", file, "--html", tmp_path / "n.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "n.html").read_text()
    assert 'id="document"' not in page  # no views
    assert '"mechanism":"layer-norm"' in page  # what its script computes from
    assert "<h1>&lt;b&gt;</h1>" in page
    assert "✗ 2.000" in page
    assert "2 is what you get if the variance is divided by the count less 1" not in page


def test_the_scores_of_a_mixture_are_not_split(tmp_path: Path) -> None:
    """A pointer's scores are logs of a mixture: the way is followed to the last vector."""
    saved(tmp_path / "pointing", translator(pointer=True))
    command = ("explain", "die katze schläft", "--model", tmp_path / "pointing", "--whole")
    assert "numbers of the last vector" in " ".join(regard(*command).stdout.split())
    done = regard(*command, "--parts")
    assert done.returncode == 2
    assert "pointing cannot be split into parts" in done.stderr
