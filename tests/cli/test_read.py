"""regard read: a line a word, within 80 columns, in numbers that the model gave."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.models.classifier import Classifier
from regard.models.classifier import sized as sized_classifier
from regard.models.language import LanguageModel, sized
from regard.models.reading import read_sentence
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import RunFolder, load_language_model
from regard.store.weights import named_weights, write_weights
from regard.trace import Trace
from tests.cli.run import regard

FBI = "The FBI is chasing a criminal on the run ."
TOKENS = Tokenizer.train([FBI.replace(" .", ".")] * 2 + ["a cat sat."], 60, "word", least=1)
DATA = {"continuous": False, "chunk": 35}


def saved(folder: Path, task: str, model: LanguageModel | Classifier) -> Path:
    """A run folder as a finished run leaves it."""
    run = RunFolder(folder)
    run.write_config({"task": task, "model": model.config.to_dict(), "data": DATA})
    TOKENS.save(run.path / "tokens.json")
    write_weights(run.model, {k: v.detach().clone() for k, v in named_weights(model).items()})
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("runs")
    torch.manual_seed(5)
    for name in ("lstmn", "lstm", "transformer", "simple-rnn+attention"):
        saved(home / name, "lm", LanguageModel(sized(name, "tiny", len(TOKENS))))
    classifier = Classifier(sized_classifier("lstmn", "tiny", len(TOKENS), ("no", "yes")))
    saved(home / "classifier", "classify", classifier)
    return home


def test_a_line_for_each_word(runs: Path) -> None:
    done = regard("read", FBI, "--model", runs / "lstmn")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "lstmn: what each word attends to, in hundredths"
    assert lines[1] == " bits"
    words = ["<s>", "The", "FBI", "is", "chasing", "a", "criminal", "on", "the", "run", "."]
    rows = [re.sub("[₀-₉]+", "", line[7:]).split() for line in lines[2:12]]
    assert rows == [words[: t + 1] for t in range(1, 11)]
    assert lines[2][7:] == "<s>₁₀₀ The", "all that the first word can attend to"
    assert "end of sentence; perplexity" in lines[12]


def test_the_weights_shown_are_the_models(runs: Path) -> None:
    model, tokens = load_language_model(runs / "lstmn")
    account = read_sentence(model, tokens, FBI)
    last = regard("read", FBI, "--model", runs / "lstmn").stdout.splitlines()[11]
    small = {ord(s): str(d) for d, s in enumerate("₀₁₂₃₄₅₆₇₈₉")}
    shown = [int(number.translate(small)) for number in re.findall("[₀-₉]+", last)]
    expected = [round(100 * a) for a in account.weights()[-1, :-1].tolist()]
    assert shown == [n for n in expected if n]
    assert float(last[:5]) == pytest.approx(account.surprisal[-1], abs=0.05)


def test_long_sentences_stay_within_80_columns(runs: Path) -> None:
    sentence = " ".join(["chasing criminal"] * 12)
    lines = regard("read", sentence, "--model", runs / "lstmn").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("       ") for line in lines) > 10, "some words go on below"


def test_json_is_a_trace(runs: Path, tmp_path: Path) -> None:
    done = regard("read", FBI, "a cat sat.", "--model", runs / "transformer", "--json", "-")
    first, second = (Trace.from_dict(json.loads(line)) for line in done.stdout.splitlines())
    assert second.tokens == ["<s>", "a", "cat", "sat", "."]
    weights = first["layer 1/attention"]
    assert weights.axes == ("head", "query", "key")
    np.testing.assert_allclose(weights.value.sum(-1), 1, atol=1e-5)
    assert first["surprisal"].value.shape == (11,)
    assert regard("read", FBI, "--model", runs / "lstmn", "--trace", tmp_path / "t").returncode == 0
    assert "layer 0/step 3/input gate" in Trace.load(tmp_path / "t")


def test_layers_and_heads(runs: Path) -> None:
    model: list[str | Path] = ["--model", runs / "transformer"]
    mean = regard("read", FBI, *model).stdout
    assert "(layer 1, mean of 4 heads)" in mean
    one = regard("read", FBI, *model, "--layer", "0", "--head", "2").stdout
    assert "(layer 0, head 2)" in one
    everything = regard("read", FBI, *model, "--all").stdout
    assert everything.count("what each word attends to") == 8
    assert one.splitlines()[3] in everything.splitlines()


def test_a_model_without_attention_shows_its_bits(runs: Path) -> None:
    done = regard("read", FBI, "--model", runs / "lstm")
    assert done.stdout.startswith("lstm has no attention: how unexpected each word was")
    assert "█" in done.stdout


def test_words_that_the_model_does_not_know(runs: Path) -> None:
    done = regard("read", "The unicorn is a unicorn.", "--model", runs / "lstmn")
    assert "unicorn" in done.stdout.splitlines()[3]
    assert done.stderr == (
        "regard: note: not in the vocabulary of lstmn: 'unicorn' ×2 (14 of 21 characters); it "
        "reads one and the same mark there, whatever the text says: use words that it was trained "
        "on, or train one on text that has these\n"
    )


def test_a_classifier_shows_what_it_decided_by(runs: Path) -> None:
    done = regard("read", FBI, "--model", runs / "classifier")
    first, words = done.stdout.splitlines()[:2]
    assert re.fullmatch(r"(no|yes) [\d.]+ %  (no|yes) [\d.]+ %", first)
    assert re.sub("[₀-₉]+", "", words).split()[:3] == ["The", "FBI", "is"]
    found = json.loads(regard("read", FBI, "--model", runs / "classifier", "--json", "-").stdout)
    assert [step["name"] for step in found["steps"]] == ["weights", "probabilities"]


def test_a_file_and_its_empty_lines(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a cat\n\nthe run\n")
    done = regard("read", "--file", tmp_path / "t", "--model", runs / "lstm")
    assert done.stdout.count("has no attention") == 2


def test_a_text_is_continued(runs: Path) -> None:
    model: list[str | Path] = ["--model", runs / "lstmn", "--continue", "4"]
    one = regard("read", "The FBI", *model)
    assert one.returncode == 0, one.stderr
    assert one.stdout.startswith("The FBI")
    assert regard("read", "The FBI", *model).stdout == one.stdout
    several = regard("read", "The FBI", "a cat", *model, "--sample", "--n-best", "3")
    first, second = several.stdout.split("\n\n")
    assert [line.split()[1:3] for line in first.splitlines()] == [["The", "FBI"]] * 3
    assert len(second.splitlines()) == 3
    lines = regard("read", "The unicorn", *model, "--sample", "--seed", "3", "--json", "-")
    (said,) = json.loads(lines.stdout)["continuations"]
    assert said["text"] == "The unicorn" + said["said"]
    assert "not in the vocabulary" in lines.stderr


def test_control_characters_cannot_act(runs: Path) -> None:
    done = regard("read", "a \x1b[31mcat\x07", "--model", runs / "lstmn")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--model", "lstmn-run", " "], "there is nothing to read"),
        (["--model", "nowhere", "a"], "'nowhere' is neither a folder nor a model"),
        (["--model", "lstmn-run", "a", "--layer", "1"], "layer must be from 0 to 0, got 1"),
        (["--model", "lstm", "a", "--layer", "0"], "lstm has no attention"),
        (["--model", "lstmn-run", "a", "--all", "--head", "0"], "--all shows every layer"),
        (["--model", "lstmn-run", "a", "--file", "b"], "give sentences or --file, not both"),
        (["--model", "lstmn-run", "a", "b", "--trace", "t"], "--trace takes one sentence, got 2"),
        (["--model", "translator", "a"], "of sentences 'regard read' takes a language model"),
    ],
)
def test_bad_input(arguments: list[str], text: str, runs: Path) -> None:
    from regard.store.shipped import HOME

    places = {"lstmn-run": runs / "lstmn", "lstm": runs / "lstm", "translator": HOME / "bahdanau"}
    done = regard("read", *(places.get(a, a) for a in arguments))
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1
