"""A MarianMTModel's folder, read as a translator: the same numbers as Hugging Face's own code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import FileError
from regard.models.translators.beam import translate_batch
from regard.pieces.tokenizer import SPECIAL
from regard.store.exchange.marian import read_marian
from regard.store.folder import load_translator
from tests.cli.run import regard
from tests.store.exchange.marian import TEXTS, write_marian


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sentencepiece")
    return write_marian(tmp_path_factory.mktemp("marian") / "opus-mt-de-en")


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Any:
    from transformers import MarianMTModel

    made: Any = MarianMTModel.from_pretrained(folder)
    return made.eval()


def rows_of(folder: Path) -> list[int]:
    """Their id of each of our ids, from the files alone."""
    vocabulary = json.loads((folder / "vocab.json").read_text())
    pad = vocabulary["<pad>"]
    first = [pad, vocabulary["<unk>"], pad, vocabulary["</s>"]]
    return first + sorted(set(vocabulary.values()) - {*first})


def test_the_same_logits(folder: Path, theirs: Any) -> None:
    ours, tokens = load_translator(folder)
    rows = torch.tensor(rows_of(folder))
    assert tokens.pieces(range(4)) == list(SPECIAL)
    ids = [[*tokens.encode(text), 3] for text in TEXTS]
    lengths = torch.tensor([len(one) for one in ids])
    source = torch.zeros(len(ids), int(lengths.max()), dtype=torch.long)
    for row, one in enumerate(ids):
        source[row, : len(one)] = torch.tensor(one)
    target = torch.randint(4, len(tokens), (len(ids), 9))
    target[:, 0] = 2
    with torch.no_grad():
        got = ours(source, lengths, target)
        expected = theirs(
            input_ids=rows[source],
            attention_mask=(torch.arange(source.shape[1]) < lengths[:, None]).long(),
            decoder_input_ids=rows[target],
        ).logits
    torch.testing.assert_close(got, expected[..., rows], rtol=0, atol=1e-4)
    found = translate_batch(ours, source[:1, : lengths[0]], lengths[:1], max_length=20)[0]
    said = theirs.generate(
        rows[source[:1, : lengths[0]]], num_beams=1, max_new_tokens=20, do_sample=False
    )[0, 1:]
    assert rows[torch.tensor(found.ids + [3] * found.finished)].tolist() == said.tolist()


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
def test_text_is_cut_as_sentencepiece_cuts_it(folder: Path) -> None:
    from transformers import MarianTokenizer

    tokenizer = MarianTokenizer.from_pretrained(folder)
    _, tokens = read_marian(folder)
    for text in [*TEXTS, "ein  Buch Über Fisch ж", "½ ﬁsch"]:
        expected = tokenizer.convert_ids_to_tokens(tokenizer(text).input_ids)[:-1]
        assert tokens.pieces(tokens.encode(text)) == expected
        written = tokenizer.decode(tokenizer(text).input_ids, skip_special_tokens=True)
        assert tokens.decode(tokens.encode(text)).strip() == written
    assert tokens.pieces(tokens.encode(">>eng<< hund"))[0] == ">>eng<<"


def test_the_command_translates_with_it_and_shows_where_it_looked(
    folder: Path, tmp_path: Path
) -> None:
    done = regard(
        *("translate", "--model", folder, "der hund schläft .", "--trace", tmp_path / "t.json"),
        *("--alignment", "--layer", "1", "--head", "0"),
    )
    assert done.returncode == 0, done.stderr
    assert "schläft" in done.stdout.splitlines()[1]
    steps = [s["name"] for s in json.loads((tmp_path / "t.json").read_text())["steps"]]
    assert "weights" in steps


def changed(folder: Path, to: Path, **settings: Any) -> Path:
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text()) | settings
    (to / "config.json").write_text(json.dumps(config))
    return to


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"activation_function": "gelu"}, "activation_function must be relu or swish or silu, got"),
        ({"scale_embedding": False}, "scale_embedding must be True, got False"),
        ({"decoder_layers": 1}, "decoder_layers must be 2, got 1"),
        ({"d_model": 24}, "do not fit its config: 'model.shared.weight' has the shape"),
        ({"d_model": None}, "cannot be read as a translator: d_model must be a whole number, got"),
        ({"encoder_attention_heads": 1.5}, "decoder_attention_heads must be 1.5, got 2"),
        ({"eos_token_id": [0]}, "eos_token_id must be a whole number, got [0]"),
        ({"pad_token_id": -1}, "must name padding, <unk>, the decoder's start and the end among"),
        ({"pad_token_id": 999}, "must name padding, <unk>, the decoder's start and the end"),
    ],
)
def test_what_is_another_model_is_told(
    folder: Path, tmp_path: Path, settings: dict[str, Any], text: str
) -> None:
    with pytest.raises(FileError) as caught:
        read_marian(changed(folder, tmp_path / "other", **settings))
    assert text in str(caught.value)


def test_missing_and_damaged_files_are_told(folder: Path, tmp_path: Path, theirs: Any) -> None:
    other = changed(folder, tmp_path / "other")
    (other / "model.safetensors").unlink()
    with pytest.raises(FileError, match=r"neither model.safetensors nor pytorch_model.bin"):
        read_marian(other)
    torch.save(theirs.state_dict(), other / "pytorch_model.bin")
    assert read_marian(other)[0].config.width == 22
    (other / "pytorch_model.bin").write_bytes(b"nothing of this kind")
    with pytest.raises(FileError, match="they are damaged"):
        read_marian(other)
    for named in ('{"<unk>": "x"}', '{"<unk>": 1, "a": null}'):
        (other / "vocab.json").write_text(named)
        with pytest.raises(FileError, match=r"must (name padding, <unk>|give each token a whole)"):
            read_marian(other)
    (other / "vocab.json").unlink()
    with pytest.raises(FileError, match=r"vocab.json': No such file"):
        read_marian(other)
