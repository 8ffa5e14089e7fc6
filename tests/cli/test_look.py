"""``regard look`` as a person runs it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regard.inside import textmodel
from regard.pieces.pieces import Pieces
from regard.pieces.text import read_text
from tests.cli.run import ROOT, regard
from tests.inside.tinytext import STORY, save
from tests.models.bert.tinybert import save_tiny

TIRED = "The animal didn't cross the street because it was too tired"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny(folder)
    return folder


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llama")
    save(folder, "Llama", max_position_embeddings=4096)
    return folder


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bart")
    save(folder, "Bart", "ModelForSeq2SeqLM", max_position_embeddings=512)
    return folder


def test_the_overview(minilm: Path) -> None:
    done = regard("look", "minilm", TIRED)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "minilm: 15 tokens, 6 layers, 12 heads each (layers and heads from 0)"
    assert lines[1].startswith("[CLS] the animal didn ' t cross")
    assert lines[4].split()[:4] == ["0", "B.91", "B.89", "P1.0"], "L0H2 looks at the previous token"
    assert sum(line.lstrip()[:1].isdigit() for line in lines[4:10]) == 6
    assert "P previous token 1" in done.stdout
    assert "of the weight goes to [CLS] and [SEP]; --no-sink leaves these out." in done.stdout
    assert max(map(len, lines)) <= 80


def test_one_head(minilm: Path, tmp_path: Path) -> None:
    done = regard("look", "minilm", TIRED, "--layer", "3", "--head", "1", "--json", tmp_path / "j")
    assert "it (10) → animal (2)                                           0.640" in done.stdout
    content = json.loads((tmp_path / "j").read_text())
    assert content["map"]["weights"][10][2] == pytest.approx(0.640, abs=5e-4)
    assert len(content["heads"]) == 12


def test_a_word(bert: Path) -> None:
    done = regard("look", bert, "the cat sat on the mat", "--word", "the", "--words", "--top", "3")
    assert "'the' occurs 2 times; this is the one at token 1 (the#2 is the second)." in done.stdout
    assert "'the' attends to" in done.stdout
    assert "'the' is attended to by" in done.stdout
    assert done.stdout.count("mean of 15 heads") == 2


def test_without_the_sink_is_said(bert: Path) -> None:
    done = regard("look", bert, "the cat sat", "--no-sink")
    said = " ".join(done.stdout.split())
    assert "Without [CLS] and [SEP]: every weight here is renormalised, shared out anew" in said


def test_a_decoder_and_a_file(llama: Path, tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY)
    done = regard("look", llama, "--file", story, "--layer", "1", "--head", "0", "--no-sink")
    assert done.returncode == 0, done.stderr
    assert "Each sign is the largest of" in done.stdout
    assert "the first token (The)" in done.stdout


def test_standard_input(llama: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regard", "look", str(llama), "-", "--json", "-"],
        input="The street", capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tokens"] == ["The", "street"]


def test_an_encoder_and_a_decoder(bart: Path) -> None:
    done = regard("look", bart, "The animal was tired", "--target", "It was wide", "--json", "-")
    content = json.loads(done.stdout)
    assert content["part"] == "cross"
    assert (content["tokens"][0], content["keys"][0]) == ("</s>", "The")
    encoder = json.loads(regard("look", bart, "The animal", "--json", "-").stdout)
    assert encoder["part"] == "encoder"
    mistake = regard("look", bart, "The", "--part", "encoder", "--target", "It")
    assert "--target is what the decoder reads" in mistake.stderr


def test_a_family_that_only_gives_weights(tmp_path: Path) -> None:
    save(tmp_path, "Bloom")
    done = regard("look", tmp_path, "The animal was tired", "--no-sink", "--layer", "1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("regard: note: the weights of BloomModel are kept")
    assert "L1H2" in done.stdout


def test_tables_and_pictures(bert: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.csv", "a.png", "a.svg")]
    options = [
        x for name, f in zip(("csv", "png", "svg"), files, strict=True) for x in (f"--{name}", f)
    ]
    done = regard("look", bert, "the cat sat on the mat $x_1$", *options)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert len(rows) == 15 * 10
    assert rows[0].keys() >= {"layer", "head", "kind", "query_text", "key_text", "weight"}
    assert files[1].read_bytes().startswith(b"\x89PNG")
    drawn = files[2].read_text()
    assert "layer" in drawn
    assert "tokens<" in drawn
    for more in (["--word", "cat"], ["--layer", "1", "--head", "2", "--words"]):
        done = regard("look", bert, "the cat sat on the $mat$", *more, "--svg", files[2])
        assert done.returncode == 0, done.stderr
        assert "mat" in files[2].read_text()


def test_a_long_text_is_estimated_first(llama: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("The animal didn't cross the street.\n" * 260)
    done = regard("look", llama, "--file", long, "--top", "2")
    assert done.returncode == 0, done.stderr
    assert "tokens: about " in done.stderr
    assert "of memory beyond the model (measured on the first 1,024 tokens)" in done.stderr


def test_control_signs_and_ten_thousand_emoji(bert: Path, llama: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\x1b[31mred\x07 \x9b2J street " + "🙂" * 10_000)
    done = regard("look", bert, "--file", text)
    assert done.returncode == 0, done.stderr
    assert not any(sign in done.stdout for sign in "\x1b\x07\x9b")
    refused = regard("look", llama, "--file", text)
    assert refused.returncode == 2
    assert "knows 4,096 positions; nothing is cut off" in refused.stderr
    text.write_text("\x1b[31mred\x07 \x9b2J \u202e street " + "🙂" * 50)
    for options in ([], ["--words"], ["--layer", "0", "--head", "0"], ["--word", "street"]):
        done = regard("look", llama, "--file", text, *options)
        assert done.returncode == 0, done.stderr
        assert not any(sign in done.stdout for sign in "\x1b\x07\x9b\u202e")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["B", "the cat", "--word", "cta"],
         "'cta' is not one of the words '[CLS] the cat [SEP]'; did you mean 'cat'?"),
        (["B", "the cat", "--head", "1"], "--head goes with --layer"),
        (["B", "the cat", "--layer", "3"], "layers are counted from 0: "),
        (["B", "the cat", "--layer", "1", "--head", "5"], "this layer has 5, got 5"),
        (["B", "the " * 40], "has 42 tokens, B knows 23 positions; nothing is cut off"),
        (["B", "the cat", "--max-tokens", "3"], "has 4 tokens, more than --max-tokens 3"),
        (["B"], "give a TEXT (- for standard input) or --file FILE; got neither"),
        (["B", "the", "--file", "x"], "got both"),
        (["B", " \n "], "the text is empty or all white space"),
        (["B", "--file", "no/such"], "cannot read 'no/such'"),
        (["B", "the", "--part", "cross"], "--part is for models with an encoder and a decoder"),
        (["B", "the", "--json", "no/such/x.json"], "cannot write 'no/such/x.json': its folder"),
        (["EMPTY", "the"], "is not the folder of a model"),
        (["PICKLE", "the"], "are a pickle (pytorch_model.bin), which can run any code"),
        (["BROKEN", "the"], "is no text model that transformers can load without running code"),
        (["MUTE", "the"], "has no tokenizer, so no text can be read: a model's folder has"),
        (["no/such/folder", "the"], "there is no folder 'no/such/folder'"),
    ],
)  # fmt: skip
def test_mistakes(bert: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    for name, files in {
        "EMPTY": {"a.txt": ""},
        "PICKLE": {"config.json": "{}", "pytorch_model.bin": ""},
        "BROKEN": {
            "config.json": '{"model_type": "nonsense"}',
            "model.safetensors": "",
            "tokenizer_config.json": "{}",
        },
        "MUTE": {"config.json": '{"model_type": "bert"}', "model.safetensors": ""},
    }.items():
        (tmp_path / name).mkdir()
        for file, content in files.items():
            (tmp_path / name / file).write_text(content)
    places = {"B": bert, **{n: tmp_path / n for n in ("EMPTY", "PICKLE", "BROKEN", "MUTE")}}
    done = regard("look", *(str(places.get(a, a)) for a in arguments))
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    said = done.stderr.replace(str(bert), "B")
    assert said.startswith("regard: error: ")
    assert words in said
    assert said.count("\n") == 1


def test_a_hub_name_without_network(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regard", "look", "nobody/nothing", "the cat"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
    )
    assert done.returncode == 2
    assert done.stderr.startswith("regard: error: there is no folder 'nobody/nothing', and the hub")
    assert done.stderr.count("\n") == 1


def test_what_the_model_cannot_read_is_told(bert: Path, tmp_path: Path) -> None:
    file = tmp_path / "look.json"
    done = regard("look", bert, "the 猫 sat on CC(=O)O", "--json", file)
    assert done.returncode == 0
    name = bert.name
    assert done.stderr.startswith(
        f"regard: note: not in the vocabulary of {name}: '猫', 'CC', '(', '=', 'O' ×2, ')' "
        "(8 of 16 characters); it reads one and the same mark there"
    )
    found = json.loads(file.read_text())
    assert found["tokens"] == [
        "[CLS]",
        "the",
        "猫",
        "sat",
        "on",
        *["CC", "(", "=", "O", ")", "O"],
        "[SEP]",
    ]
    ends = {found["tokens"][link[end]] for head in found["heads"] for link in head["links"]
            for end in ("query", "key")}  # fmt: skip
    assert ends == {"the", "sat", "on"}, "links neither from nor to what it cannot read"


def test_a_text_is_cut_once(bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(tokenizer: object, text: str) -> Pieces:
        read.append(text)
        return read_text(tokenizer, text)

    monkeypatch.setattr(textmodel, "read_text", counted)
    assert regard("look", bert, "the cat sat", "--html", tmp_path / "x.html").returncode == 0
    assert read == ["the cat sat"]


def test_a_measure_in_place_of_the_weights(bert: Path) -> None:
    """Said to be derived, in words and in JSON; the numbers are those of its maps."""
    done = regard("look", bert, "the animal was tired", "--measure", "rollout")
    assert done.returncode == 0, done.stderr
    assert "1 head each" in done.stdout
    assert "Derived, not weights: attention rollout" in " ".join(done.stdout.split())
    found = regard("look", bert, "the animal was tired", "--measure", "norm", "--json", "-")
    assert json.loads(found.stdout)["measure"] == "norm"
    heads = regard("heads", bert, "the animal was tired", "--measure", "norm")
    assert "Derived, not weights: the size of what each head brings" in " ".join(
        heads.stdout.split()
    )
    for command in ("look", "heads"):
        slopes = regard(command, bert, "the animal was tired", "--measure", "gradient")
        assert "Here y is the length of the sentence's vector." in " ".join(slopes.stdout.split())
    target = regard("look", bert, "the animal", "--measure", "gradient", "--target", "tired")
    assert target.returncode == 2
    assert "predicts no word and no label, so that there is no --target" in target.stderr
    several = regard("look", bert, "the animal", "--measure", "norm", "--measure", "flow")
    assert several.returncode == 2
    assert "add --html, or leave out flow" in several.stderr


def test_a_transformer_that_regard_trained_and_one_that_is_recurrent() -> None:
    found = regard("look", "transformer", "Der Hund schläft.", "--json", "-")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["part"] == "encoder"
    refused = regard("look", "lstmn", "the cat sat")
    assert refused.returncode == 2
    assert "'regard read --model lstmn' shows what its words attend to" in refused.stderr
    assert refused.stderr.count("\n") == 1
