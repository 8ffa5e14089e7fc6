from __future__ import annotations

from pathlib import Path

from tests.cli.run import regard


def test_a_shipped_model_is_written(tmp_path: Path) -> None:
    done = regard("export", "transformer", "--to", "huggingface", "-o", tmp_path / "hf")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Written to {tmp_path / 'hf'}: README.md, config.json, ")


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    for arguments, words in (
        (["bahdanau", "--to", "onnx"], "bahdanau cannot be exported"),
        (["nowhere", "--to", "onnx"], "'nowhere' is neither a folder nor a model"),
        (["bahdanau", "--to", "keras"], "'keras' is not one of"),
    ):
        done = regard("export", *arguments, "-o", tmp_path / "new")
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert words in done.stderr
