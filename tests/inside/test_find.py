"""A model named by alias, folder or hub name; folders that are none, and pickles."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import ModelError
from regard.inside.find import ModelFiles, find


def folder_of(path: Path, *files: str) -> str:
    path.mkdir(parents=True)
    for name in files:
        (path / name).write_bytes(b"")
    return str(path)


def test_a_folder(tmp_path: Path) -> None:
    name = folder_of(tmp_path / "m", "config.json", "model.safetensors", "pytorch_model.bin")
    assert find(name) == ModelFiles(name, tmp_path / "m", None)


def test_a_folder_with_shards(tmp_path: Path) -> None:
    name = folder_of(tmp_path / "m", "config.json", "model-00001-of-00002.safetensors")
    assert find(name).folder == tmp_path / "m"


def test_gguf(tmp_path: Path) -> None:
    name = folder_of(tmp_path / "m", "tiny.gguf", "README.md")
    assert find(name) == ModelFiles(name, tmp_path / "m", "tiny.gguf")
    assert find(f"{name}/tiny.gguf").gguf == "tiny.gguf"


def test_an_alias_goes_before_a_folder_of_its_name(
    minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_of(tmp_path / "minilm", "config.json", "model.safetensors")
    monkeypatch.chdir(tmp_path)
    assert find("minilm").folder == minilm
    assert find("./minilm").folder == Path("minilm")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "is not the folder of a model: .* this one has no files"),
        (["a.txt"], "is not the folder of a model: that has config.json and .* has a.txt"),
        (["config.json"], "has config.json but no weights: model.safetensors is missing"),
        (
            ["config.json", "pytorch_model.bin"],
            r"are a pickle \(pytorch_model.bin\), which can run any code .* reads safetensors.*"
            r"from_pretrained\(folder\).save_pretrained\(new_folder\)",
        ),
    ],
)
def test_folders_that_are_refused(tmp_path: Path, files: list[str], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        find(folder_of(tmp_path / "m", *files))


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no folder .* an alias \(minilm, smollm2, ocr\)"):
        find(str(tmp_path / "nothing"))
    (tmp_path / "weights.bin").write_bytes(b"")
    with pytest.raises(ModelError, match="is a file; give the folder of a model"):
        find(str(tmp_path / "weights.bin"))


def test_a_hub_name_without_network(tmp_path: Path) -> None:
    """In a process of its own: the hub's library reads its settings when it is imported."""
    from tests.inside.offline import offline

    done = offline("from regard.inside.find import find; find('nobody/nothing')", tmp_path)
    assert "ModelError: there is no folder 'nobody/nothing', and the hub was not reached" in done
    assert "or use an alias (minilm, smollm2, ocr)" in done
