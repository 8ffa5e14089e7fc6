"""What goes and what does not, with the reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from regard.errors import ConfigError, FileError
from regard.models.translators.builder import build
from regard.models.translators.config import sized
from regard.store.exchange.export import export
from tests.store.exchange.small import TOKENS, classifier, language, saved, translator


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("runs")
    saved(home / "translator", translator())
    saved(home / "untied", translator(tied=False))
    saved(home / "bahdanau", build(sized("bahdanau", "tiny", len(TOKENS))))
    saved(home / "pointer", translator(pointer=True))
    saved(home / "language", language())
    saved(home / "lstmn", language("lstmn"))
    saved(home / "classifier", classifier("lstmn"))
    return home


def test_the_files_and_the_card(runs: Path, tmp_path: Path) -> None:
    files = export(str(runs / "translator"), "huggingface", tmp_path / "new" / "hf")
    assert files == sorted(path.name for path in (tmp_path / "new" / "hf").iterdir())
    assert {"config.json", "model.safetensors", "tokenizer.json", "README.md"} <= {*files}
    card = (tmp_path / "new" / "hf" / "README.md").read_text(encoding="utf-8")
    assert "- pairs: deu.txt.gz" in card, "the file's name, without the user's folders"
    assert "AutoModelForSeq2SeqLM" in card


def test_a_classifier_goes_with_its_labels(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    files = export(str(runs / "classifier"), "onnx", tmp_path / "onnx")
    assert files == ["README.md", "model.onnx", "tokenizer.json"]
    assert "# of bad, fair, good" in (tmp_path / "onnx" / "README.md").read_text()


def test_a_shipped_models_licence_goes_along(tmp_path: Path) -> None:
    export("transformer", "huggingface", tmp_path / "hf")
    assert "CC-BY 2.0" in (tmp_path / "hf" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("run", "to", "reason"),
    [
        ("bahdanau", "huggingface", "Hugging Face's transformers has no such network"),
        ("bahdanau", "ctranslate2", "CTranslate2 has no such network"),
        ("bahdanau", "onnx", "of translators the Transformer alone is written as ONNX"),
        (
            "lstmn",
            "huggingface",
            "lstmn cannot be exported: Hugging Face's transformers has no such",
        ),
        ("classifier", "ctranslate2", "CTranslate2 has no such classifier"),
        ("language", "huggingface", "none of its decoders has sinusoidal positions and a bias"),
        ("language", "ctranslate2", "translators alone; --to onnx can hold this one"),
        *(
            (
                "pointer",
                to,
                f"a model with a pointer cannot be exported: {who} would say every word",
            )
            for to, who in (
                ("huggingface", "Hugging Face's transformers"),
                ("onnx", "the ONNX file"),
                ("ctranslate2", "CTranslate2"),
            )
        ),
        ("untied", "huggingface", "this model has three (tied = false)"),
        ("translator", "keras", "models are exported to huggingface, onnx, ctranslate2; got"),
    ],
)
def test_what_cannot_go_is_refused(runs: Path, run: str, to: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(reason)):
        export(str(runs / run), to, runs / "never")
    assert not (runs / "never").exists()


def test_an_image_classifier_is_named_for_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"of text are exported; this is an image classifier$"):
        export("fashion", "onnx", tmp_path / "never")


def test_nothing_is_overwritten_and_nothing_left_behind(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").write_text("precious")
    with pytest.raises(FileError, match="is there and not empty"):
        export(str(runs / "translator"), "huggingface", tmp_path)
    monkeypatch.setattr("regard.store.exchange.export.card_of", lambda run: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export(str(runs / "translator"), "huggingface", tmp_path / "half")
    assert not (tmp_path / "half").exists()
