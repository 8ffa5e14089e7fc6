"""regard train: bad input is one line and exit code 2, and nothing is lost or overwritten."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import pytest
import torch

from regard.cli import main
from regard.models.translators.config import MODELS
from regard.pieces.tokenizer import Tokenizer
from regard.store.folder import RunFolder, load_translator
from regard.train.run.folder import claimed
from regard.train.run.log import read_log

GERMAN = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
Arguments = list[str | Path]
TINY: Arguments = ["--size", "tiny", "--steps", "2", "--batch-tokens", "300", "--threads", "1",
        "--set", "data.valid_share=0.1", "--set", "data.test_share=0.1"]  # fmt: skip


def rows(first: int = 100, last: int = 200) -> list[tuple[str, str]]:
    """Numbers, English and German."""
    digits = [[int(d) for d in str(n)] for n in range(first, last)]
    return [(" ".join(ENGLISH[d] for d in n), " ".join(GERMAN[d] for d in n)) for n in digits]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.tsv"
    path.write_text("".join(f"{e}\t{g}\n" for e, g in rows()), encoding="utf-8")
    return path


def run(*arguments: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["train", "translate", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line that the command refuses these arguments with."""
    assert run(*arguments) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("regard: error: ")
    assert errors.count("\n") == 1
    return errors


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_named_columns_own_tokens_and_another_optimizer(tmp_path: Path) -> None:
    table = tmp_path / "numbers.csv"
    table.write_text("id,en,de\n" + "".join(f'1,"{e}",{g}\n' for e, g in rows()))
    texts = [text for row in rows() for text in row]
    Tokenizer.train(texts, 50).save(tmp_path / "own.json")
    out = tmp_path / "run"
    options = ["--columns", "source=en,target=de", "--reverse", "--optimizer", "adafactor"]
    options += ["--tokenizer", str(tmp_path / "own.json")]
    assert run("--pairs", table, "-o", out, *TINY, *options) == 0
    assert (out / "tokens.json").read_text() == (tmp_path / "own.json").read_text()
    (valid,) = [e for e in read_log(out / "log.jsonl") if e["event"] == "valid"]
    assert len(valid["samples"]) == 3
    sample = valid["samples"][0]
    assert (sample["reference"], sample["source"]) in rows()
    assert valid["perplexity"] == pytest.approx(math.exp(valid["loss"]))
    assert run("-o", out, "--resume", "--steps", "4") == 0


def test_a_learning_rate_is_found_and_nothing_written(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(tmp_path)
    assert run("--pairs", table, *TINY, "--find-rate") == 0
    assert "\ntry --learning-rate " in capsys.readouterr().out
    assert files(tmp_path) == before
    both = refused(capsys, "--pairs", table, "--find-rate", "-o", tmp_path / "run")
    assert "--find-rate writes no folder: leave -o out" in both
    assert "give -o FOLDER to train into" in refused(capsys, "--pairs", table)
    assert "leave --from" in refused(capsys, "--pairs", table, "--find-rate", "--from", "bahdanau")


def test_columns_and_optimizers_that_are_not_there(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: Arguments = ["--pairs", table, "-o", tmp_path / "run"]
    assert "the model has no part 'head'; its parts are alignment, decoder, encoder" in refused(
        capsys, *given, *TINY, "--freeze", "head"
    )
    table.write_text("en\tde\none\teins\n")
    assert "has no column 'fr'; its first line names en, de" in refused(
        capsys, *given, "--columns", "source=fr,target=en"
    )
    assert "train.optimizer" in refused(capsys, *given, "--optimizer", "adam")
    for option, value in (("tokenizer", "t.json"), ("vocabulary", 50), ("level", "word")):
        setting = f"data.{option}={value}"
        said = refused(capsys, *given, "--from", "bahdanau", "--set", setting)
        assert f"train.start (--from) brings its tokens: leave data.{option} out" in said


def test_a_run_that_was_begun_with_weights_and_a_vocabulary_goes_on(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused today; before, the vocabulary was ignored, and the run's settings have it."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert run("--pairs", table, *TINY, "-o", first) == 0
    assert run("--pairs", table, "--from", first, *TINY, "-o", second) == 0
    config = json.loads((second / "config.json").read_text())
    config["data"]["vocabulary"] = 60
    (second / "config.json").write_text(json.dumps(config))
    capsys.readouterr()
    assert run("--pairs", table, "--resume", "--steps", "4", "-o", second) == 0
    assert "after 4 updates" in capsys.readouterr().out


@pytest.mark.parametrize("model", MODELS)
def test_every_design_trains(
    model: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert run("--pairs", table, "--reverse", "--model", model, *TINY, "-o", folder) == 0
    output = capsys.readouterr().out
    assert "the text allows no more than these" in output
    assert "done (steps) after 2 updates and 0:0" in output
    config = json.loads((folder / "config.json").read_text())
    assert config["model"]["model"] == model
    assert (config["data"]["source_column"], config["data"]["target_column"]) == (2, 1)
    translator, tokens = load_translator(folder)
    assert translator.config.vocabulary == len(tokens)
    assert (folder / "test.tsv").read_text(encoding="utf-8").count("\t") > 0


def test_aligned_gzip_files_and_own_validation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {}
    for part, (first, last) in {"train": (100, 200), "valid": (195, 210)}.items():
        for side, column in (("de", 1), ("en", 0)):
            lines = [pair[column] for pair in rows(first, last)]
            if part == "train":
                lines = [*lines, "", "eins " * 150]
            names[part, side] = tmp_path / f"{part}.{side}.gz"
            names[part, side].write_bytes(gzip.compress("\n".join(lines).encode()))
    sides: Arguments = ["--source", names["train", "de"], "--target", names["train", "en"]]
    valid: Arguments = [
        "--valid-source",
        names["valid", "de"],
        "--valid-target",
        names["valid", "en"],
    ]
    assert run(*sides, *valid, *TINY, "-o", tmp_path / "run") == 0
    output = capsys.readouterr().out
    assert "100 pairs to train on, 15 to validate, 0 to test" in output
    assert "left out: 1 line (101) with nothing on a side" in output
    assert "left out: 1 line (102) of more than 100 tokens" in output
    assert "5 training pairs share a sentence with the validation or test files" in output
    data = read_log(tmp_path / "run" / "log.jsonl")[0]
    assert (data["empty_lines"], data["long_lines"], data["overlap"]) == ([101], [102], 5)


def test_a_folder_that_is_taken(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    usual: Arguments = ["--pairs", table, *TINY, "-o", folder]
    assert run(*usual) == 0
    before = files(folder)
    capsys.readouterr()
    assert "already holds a run" in refused(capsys, *usual)
    text = refused(capsys, *usual, "--resume", "--seed", "5")
    assert "run with other settings: train.seed was 1, is 5" in text
    assert "model.model was" in refused(capsys, *usual, "--resume", "--model", "transformer")
    table.write_text(table.read_text(encoding="utf-8") + "ten\tzehn\n", encoding="utf-8")
    assert "made.pairs was" in refused(capsys, *usual, "--resume")
    assert files(folder) == before
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    assert "exists and is not a run" in refused(capsys, "--pairs", table, *TINY, "-o", other)
    assert "not a run folder" in refused(capsys, "-o", other, "--resume")
    assert [path.name for path in other.iterdir()] == ["thesis.txt"]


def test_a_refused_process_changes_nothing(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While a run trains, another process must not touch a byte of its folder."""
    folder = tmp_path / "run"
    assert run("--pairs", table, *TINY, "-o", folder) == 0
    before = files(folder)
    capsys.readouterr()
    with claimed(RunFolder(folder), resume=True):
        text = refused(capsys, "-o", folder, "--resume", "--steps", "3")
    assert "another process is training in" in text
    assert files(folder) == before


def test_resume_with_a_lower_rate(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert run("--pairs", table, *TINY, "-o", folder) == 0
    more: Arguments = [
        "--steps",
        "4",
        "--learning-rate",
        "0.0007",
        "--set",
        "train.clip=0.5",
    ]
    assert run("-o", folder, "--resume", *more) == 0
    said = "from here on train.learning_rate 0.0007, train.clip 0.5"
    assert said in capsys.readouterr().out
    changed = [e for e in read_log(folder / "log.jsonl") if e["event"] == "changed"]
    assert [e["step"] for e in changed] == [2]
    saved = json.loads((folder / "config.json").read_text())["train"]
    assert (saved["learning_rate"], saved["clip"]) == (0.0007, 0.5)
    assert run("-o", folder, "--resume", "--steps", "5") == 0
    assert said not in capsys.readouterr().out


def test_resume_with_a_later_end(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert run("--pairs", table, *TINY, "-o", folder) == 0
    assert run("-o", folder, "--resume", "--steps", "4") == 0
    assert "resumed at step 2" in capsys.readouterr().out
    assert read_log(folder / "log.jsonl")[-1]["step"] == 4


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"a\tb\nc\n", "line 2: expected 2 columns"),
        (b"a b\n", "got 1 column"),
        (b"\x89PNG\r\n\0\0", "binary file"),
        ("grün\tgreen\n".encode("latin-1"), "line 1, byte 3 of the line is 0xfc"),
        (b"", "is empty"),
        (b"\t\n\tb\n", "none of the 2 lines"),
        (b"a\tb\n", "1 pair is too few"),
    ],
)
def test_bad_tables(
    content: bytes, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "t.tsv").write_bytes(content)
    assert text in refused(capsys, "--pairs", tmp_path / "t.tsv", *TINY, "-o", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_unequal_line_counts(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("eins\nzwei\n")
    (tmp_path / "b").write_text("one\n")
    sides: Arguments = ["--source", tmp_path / "a", "--target", tmp_path / "b"]
    assert "got 2 in" in refused(capsys, *sides, *TINY, "-o", tmp_path / "run")


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--vocabulary", "100000"], "100000 is larger than the text allows"),
        (["--vocabulary", "10"], "10 is smaller than the text needs: its characters and the"),
        (["--set", "train.learning_rate=1e30"], "than 0 and under 100, got 1e+30"),
        (["--set", "train.lr=1"], "no setting train.lr; did you mean 'learning_rate'?"),
        (["--model", "transfomer"], "did you mean 'transformer'"),
        (["--size", "huge"], "size must be one of tiny, small, base"),
        (["--set", "train.learning_rat=1"], "did you mean 'learning_rate'"),
        (["--set", "trian.steps=1"], "no section trian; did you mean 'train'"),
        (["--set", "model.widht=8"], "no setting model.widht; did you mean 'width'"),
        (["--set", "steps"], "key=value"),
        (["--max-length", "1000"], "must hold a sentence of data.max_length (1000)"),
        (["--source-column", "3"], "columns 3 and 2 are wanted"),
        (["--set", "train.sharded=true", "--set", "train.monitor=loss"], "torchrun"),
        (["--config", "none.toml"], "No such file"),
    ],
)
def test_bad_settings(
    more: list[str], text: str, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert text in refused(capsys, "--pairs", table, *TINY, *more, "-o", tmp_path / "run")


def test_config_file_under_flags_under_set(table: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        f'[data]\npairs = "{table}"\n[train]\nseed = 3\nclip = 2\nwarmup = 7\n'
    )
    arguments: Arguments = [
        "--config",
        tmp_path / "c.toml",
        *TINY,
        "--seed",
        "5",
        "--set",
        "train.clip=0.5",
    ]
    assert run(*arguments, "-o", tmp_path / "run") == 0
    saved = json.loads((tmp_path / "run" / "config.json").read_text())["train"]
    assert (saved["seed"], saved["clip"], saved["warmup"]) == (5, 0.5, 7)


def test_a_checkpoint_cut_in_half(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert run("--pairs", table, *TINY, "--set", "train.save_every=1", "-o", folder) == 0
    path = folder / "checkpoints/step-00000002/optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    assert run("-o", folder, "--resume", "--steps", "3") == 0
    output = capsys.readouterr().out
    assert "step-00000002 is damaged: optimizer.safetensors was cut or changed" in output
    assert "resumed at step 1" in output
    for path in folder.glob("checkpoints/step-*/model.safetensors"):
        path.write_bytes(path.read_bytes()[:1000])
    assert "nothing to resume from" in refused(capsys, "-o", folder, "--resume", "--steps", "4")


def test_tensorboard_is_not_there(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.train.run.start.find_spec", {"tensorboard": None}.get)
    text = refused(capsys, "--pairs", table, *TINY, "--tensorboard", "-o", tmp_path / "run")
    assert "TensorBoard needs tensorboard: pip install tensorboard" in text
    assert not (tmp_path / "run").exists()


def test_a_run_that_begins_with_another_one(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """At a step size of almost nothing, the second run ends with the first one's weights."""
    first, second = tmp_path / "first", tmp_path / "second"
    usual = ["--pairs", table, *TINY, "--learning-rate", "1e-12"]
    assert run(*usual, "--seed", "7", "-o", first) == 0
    # Fewer pairs have other pieces: the tokens are the first run's.
    table.write_text("".join(f"{e}\t{g}\n" for e, g in rows(100, 160)), encoding="utf-8")
    assert run(*usual, "--from", first, "-o", second) == 0
    assert (first / "tokens.json").read_bytes() == (second / "tokens.json").read_bytes()
    (one, _), (other, _) = load_translator(first), load_translator(second)
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-7, rtol=0)
    assert run("--resume", "--steps", "3", "-o", second) == 0
    capsys.readouterr()
    third = [*usual, "-o", tmp_path / "third"]
    text = refused(capsys, *third, "--from", first, "--set", "model.hidden=81")
    assert f"the model of '{first}' does not fit this model: it has a misshaped" in text
    assert "'nothing' is neither a folder nor a model" in refused(
        capsys, *third, "--from", "nothing"
    )
    assert f"--from) '{table}' is in no run folder" in refused(capsys, *third, "--from", table)
    assert not (tmp_path / "third").exists()


def test_products_in_bfloat16(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = ["--pairs", table, *TINY, "--precision", "bfloat16", "-o", tmp_path / "run"]
    text = refused(capsys, *usual, "--model", "lstmn-deep")
    assert "train.precision bfloat16 is for word-by-word, encoder-decoder, bahdanau, " in text
    assert "lstmn-deep is trained in float32" in text
    assert "train.precision" in refused(capsys, *usual, "--precision", "half")
    assert run(*usual) == 0
    assert "done (steps)" in capsys.readouterr().out
    translator, _ = load_translator(tmp_path / "run")
    assert {p.dtype for p in translator.parameters()} == {torch.float32}
