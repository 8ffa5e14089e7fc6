"""``regard translate`` and ``regard evaluate`` as a person runs them, with a tiny trained model."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli.run import Done, regard

SENTENCES = [("der hund schläft", "the dog sleeps"), ("die katze schläft", "the cat sleeps"),
             ("der hund isst", "the dog eats"), ("die katze isst", "the cat eats")]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Bahdanau model that has learned four sentences by heart."""
    folder = tmp_path_factory.mktemp("run")
    pairs = folder / "pairs.tsv"
    pairs.write_text("".join(f"{s}\t{t}\n" for s, t in SENTENCES * 20), encoding="utf-8")
    options = "--model bahdanau --size tiny --steps 150 --threads 1 --level word --vocabulary 15"
    more = "--dropout 0 --learning-rate 0.01 --set train.warmup=10 --set train.smoothing=0.0"
    done = regard(
        *("train", "translate", "--pairs", pairs, "--valid-pairs", pairs, "--test-pairs", pairs),
        *options.split(), *more.split(), "-o", folder / "model",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "model"


def translate(run: Path, *arguments: str | Path) -> Done:
    return regard("translate", "--model", run, *arguments)


def test_sentences_come_out_one_a_line_in_order(run: Path) -> None:
    done = translate(run, *(source for source, _ in SENTENCES))
    assert done.returncode == 0
    assert done.stdout.splitlines() == [target for _, target in SENTENCES]


def test_files_and_pipes(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "der hund isst\n\ndie katze isst\n"
    file = tmp_path / "de.txt"
    file.write_text(text, encoding="utf-8")
    expected = "the dog eats\n\nthe cat eats\n"
    assert translate(run, "--file", file).stdout == expected
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode())))
    )
    assert translate(run).stdout == expected, "an empty line stays a line"


def test_json_has_the_documented_form(run: Path) -> None:
    done = translate(run, "der hund schläft", "die katze isst", "--json", "-", "--beam", "1")
    first, second = map(json.loads, done.stdout.splitlines())
    assert set(first) == {"text", "source", "target", "alignment"}
    assert first["source"] == ["der", "hund", "schläft", "</s>"]
    assert first["target"] == ["the", "dog", "sleeps"]
    assert np.array(first["alignment"]).shape == (3, 4)
    np.testing.assert_allclose(np.array(first["alignment"]).sum(-1), 1, atol=1e-4)
    assert second["text"] == "the cat eats"


def test_several_translations_with_their_scores(run: Path) -> None:
    done = translate(run, "der hund schläft", "die katze isst", "--n-best", "3")
    first, second = (part.splitlines() for part in done.stdout.split("\n\n"))
    assert (len(first), len(second)) == (3, 3)
    assert first[0].endswith("  the dog sleeps")
    scores = [float(line.split()[0]) for line in first]
    assert scores == sorted(scores, reverse=True)
    done = translate(run, "der hund schläft", "--n-best", "2", "--json", "-")
    found = json.loads(done.stdout)
    assert found["text"] == found["n_best"][0]["text"] == "the dog sleeps"
    assert [h["score"] for h in found["n_best"]] == pytest.approx(scores[:2], abs=6e-4)


def test_samples_come_again_by_their_seed(run: Path) -> None:
    options = ["--sample", "--temperature", "9", "--n-best", "5"]
    one, same, other = (
        translate(run, "der hund schläft", *options, "--seed", seed).stdout for seed in "112"
    )
    assert one == same != other
    safe = translate(run, "der hund schläft", "--sample", "--top-p", "0.01").stdout
    assert safe == "the dog sleeps\n"


def test_the_alignment_fits_the_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    done = translate(run, "der hund schläft", "--alignment")
    lines = done.stdout.splitlines()
    assert lines[0] == "the dog sleeps"
    assert "schläft" in lines[1]
    assert [line.split()[0] for line in lines[2:5]] == ["the", "dog", "sleeps"]
    assert max(map(len, lines)) <= 40
    assert "\x1b" not in done.stdout


def test_the_trace_of_a_sentence(run: Path, tmp_path: Path) -> None:
    from regard.trace import Trace

    file = tmp_path / "t.json"
    assert translate(run, "der hund isst", "--trace", file).returncode == 0
    assert Trace.load(file)["words"].labels["target"] == ["the", "dog", "eats"]
    done = translate(run, "a", "b", "--trace", tmp_path / "u.json")
    assert done.returncode == 2
    assert "--trace takes one sentence, got 2" in done.stderr


def test_a_picture_of_the_alignment(run: Path, tmp_path: Path) -> None:
    png, svg = tmp_path / "a.png", tmp_path / "a.svg"
    done = translate(run, "der hund isst", "--png", png, "--svg", svg)
    assert done.stdout == f"the dog eats\nWritten: {png}, {svg}\n"
    assert png.read_bytes().startswith(b"\x89PNG")
    assert "hund" in svg.read_text(encoding="utf-8")
    done = translate(run, "a", "b", "--png", png)
    assert "--png takes one sentence, got 2" in done.stderr


@pytest.fixture(scope="module")
def pointing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a pointer, hardly trained."""
    folder = tmp_path_factory.mktemp("pointing")
    pairs = folder / "pairs.tsv"
    names = [f"{a}{b}o" for a in "bdfgklmnprst" for b in "aeiou"]
    pairs.write_text("".join(f"here is {n} .\t{n}\n" for n in names), encoding="utf-8")
    options = "--pointer --size tiny --steps 30 --threads 1 --vocabulary 45 --dropout 0"
    files = ("--pairs", pairs, "--valid-pairs", pairs, "--test-pairs", pairs)
    done = regard("train", "translate", *files, *options.split(), "-o", folder / "model")
    assert done.returncode == 0, done.stderr
    return folder / "model"


def test_a_pointer_tells_what_it_copied(pointing: Path, tmp_path: Path) -> None:
    assert json.loads((pointing / "config.json").read_text())["model"]["pointer"] is True
    lines = translate(pointing, "here is bao .", "--alignment").stdout.splitlines()
    assert [line.split() for line in lines].count(["word", "copied", "from"]) == 1
    page = tmp_path / "p.html"
    done = translate(pointing, "here is bao .", "--json", "-", "--html", page)
    found = json.loads(done.stdout)
    assert {*found} == {"text", "source", "target", "alignment", "copied", "copied_from", "gate"}
    sums = np.array(found["copied_from"]).sum(-1)
    np.testing.assert_allclose(found["copied"], sums, atol=1e-4)
    assert "Copied from the source: " in page.read_text(encoding="utf-8")
    shown = regard("evaluate", pointing, "--rouge").stdout
    assert "pointer: the share of the words' probability that was copied" in shown
    result = json.loads(regard("evaluate", pointing, "--rouge", "--json", "-").stdout)
    first, own, right = result["summaries"]
    assert 0 < own["pointer"] <= 1
    assert "pointer" not in first | right


def test_a_design_without_a_pointer_refuses_one(tmp_path: Path) -> None:
    (tmp_path / "p.tsv").write_text("a\tb\n" * 9)
    done = regard(
        *("train", "translate", "--pairs", tmp_path / "p.tsv", "--model", "lstmn-deep"),
        *("--pointer", "-o", tmp_path / "run"),
    )
    assert done.returncode == 2
    assert "bahdanau and transformer have one, lstmn-deep has none" in done.stderr


def test_evaluate_reports_scores_with_their_signature(run: Path) -> None:
    done = regard("evaluate", run, "--json", "-", "--beam", "1")
    result = json.loads(done.stdout)
    bleu, chrf = result["scores"]
    assert (bleu["name"], chrf["name"]) == ("BLEU", "chrF2")
    assert chrf["value"] == pytest.approx(100)
    assert "tok:13a" in bleu["signature"]
    assert sum(b["sentences"] for b in result["by_length"]) == result["sentences"] == 80
    shown = regard("evaluate", run, "--beam", "1").stdout
    assert "80 sentences, beam 1" in shown
    assert "words in source" in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["translate", "--model", "nowhere", "a"], "'nowhere' is neither a folder nor a model"),
        (["translate", "--model", ".", "a"], "is not a run folder: it has no config.json"),
        (["translate", "--model", "RUN", "a", "--file", "b"], "give sentences or --file, not both"),
        (["translate", "--model", "RUN", "--file", "nowhere.txt"], "cannot read 'nowhere.txt'"),
        (["translate", "--model", "RUN", "a", "--layer", "1"], "layer"),
        (["translate", "a", "--top-p", "0.9"], "--top-p goes with --sample"),
        (["translate", "a", "--sample", "--top-p", "0"], "0.0 is not in the range 0<x<=1"),
        (["translate", "a", "--sample", "--beam", "2"], "--beam searches and --sample draws"),
        (["translate", "a", "--beam", "2", "--n-best", "3"], "--beam 3 or more, got 2"),
        (["translate", "a", "--n-best", "101"], "beam may be 100 at most, got 101"),
        (["evaluate", "RUN", "--source", "a"], "--source and --target go together"),
        (["evaluate", "RUN", "--pairs", "a", "--source", "b", "--target", "c"], "not both"),
    ],
)
def test_mistakes_are_one_line(run: Path, arguments: list[str], words: str) -> None:
    done = regard(*(str(run) if a == "RUN" else a for a in arguments))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


def test_a_text_in_another_alphabet_is_told(run: Path, tmp_path: Path) -> None:
    done = translate(run, "der hund ест", "--alignment")
    assert done.returncode == 0
    assert "ест" in done.stdout, "the user's own characters"
    assert done.stderr.startswith("regard: note: not in the vocabulary of "), (
        "this model knows whole words"
    )
    assert done.stderr.endswith(": write in the language that it translates from\n")
    done = regard("translate", "Это кошка.", "Guten Tag.")
    assert done.stderr == (
        "regard: note: not in the alphabet of bahdanau: 'Это', 'кошка' (8 of 18 characters); it "
        "reads one and the same mark there, whatever the text says: write in the language that it "
        "translates from\n"
    )
    assert translate(run, "der hund isst").stderr == ""


def test_an_evaluation_by_names_of_columns_and_with_sides_exchanged(
    run: Path, tmp_path: Path
) -> None:
    rows = [f'{number},"{s}",{t}\n' for number, (s, t) in enumerate(SENTENCES)]
    (tmp_path / "t.csv").write_text("id,de,en\n" + "".join(rows), encoding="utf-8")
    for side, texts in zip(("de", "en"), zip(*SENTENCES, strict=True), strict=True):
        (tmp_path / side).write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    table = ("--pairs", tmp_path / "t.csv", "--columns")
    files = ("--source", tmp_path / "en", "--target", tmp_path / "de", "--reverse")
    for more in (
        (*table, "source=de,target=en"),
        (*table, "target=de,source=en", "--reverse"),
        files,
    ):
        done = regard("evaluate", run, *more, "--json", "-")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert (found["sentences"], found["scores"][1]["value"]) == (4, pytest.approx(100))
    for wrong in ("source=de,target=de", "source=de,source=en,target=en"):
        done = regard("evaluate", run, *table, wrong)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"got {wrong!r}" in done.stderr
    done = translate(run, "", "--html", tmp_path / "e.html")
    assert "there is no word in the sentence: nothing of it can be shown" in done.stderr
    assert not (tmp_path / "e.html").exists()
