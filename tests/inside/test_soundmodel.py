"""Models of sounds: the spans that they hear, and that what is seen are their own weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import DataError, ModelError
from regard.inside.find import find
from regard.inside.look.look import look
from regard.inside.soundmodel import SoundModel, load_sound_model
from regard.pieces.look import LookRequest
from tests.inside.hearing import save_wav2vec2, save_whisper
from tests.inside.vision import save_vit
from tests.sounds import save_tone, tone, wav


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> str:
    """0.43 s of 440 Hz, 16,000 samples a second."""
    file = tmp_path_factory.mktemp("sound") / "a.wav"
    file.write_bytes(wav((tone(440, 0.43, 16000) * 32767).astype("<i2").tobytes(), rate=16000))
    return str(file)


@pytest.fixture(scope="module")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> SoundModel:
    return load_sound_model(find(str(save_whisper(tmp_path_factory.mktemp("whisper")))))


@pytest.fixture(scope="module")
def wav2vec2(tmp_path_factory: pytest.TempPathFactory) -> SoundModel:
    return load_sound_model(find(str(save_wav2vec2(tmp_path_factory.mktemp("wav2vec2")))))


def eager(model: SoundModel, **given: Any) -> Any:
    network: Any = model.network
    network.set_attn_implementation("eager")
    with torch.no_grad():
        found = network(model.heard, output_attentions=True, **given)
    network.set_attn_implementation("sdpa")
    return found


def test_a_model_of_samples(wav2vec2: SoundModel, sound: str) -> None:
    heard = wav2vec2.read(sound)
    assert len(heard) == (6880 - 160) // 160 + 1 == 43  # two convolutions of 10 and 16, no overlap
    assert heard.labels[20] == "0.20–0.21 s"
    assert heard.places[20] == (20, 21)
    assert (heard.noun, heard.nouns) == ("frame", "frames")
    assert not any(heard.padding)  # it reads the samples that there are
    found = look(wav2vec2, heard, LookRequest(word="0.20–0.21 s"))
    assert found.place is not None
    for layer, weights in enumerate(eager(wav2vec2).attentions):
        torch.testing.assert_close(torch.tensor(found.place.to[layer]), weights[0, :, 20])


@pytest.mark.parametrize("part", ["encoder", "decoder", "cross"])
def test_whisper_in_all_its_parts(whisper: SoundModel, sound: str, part: str) -> None:
    heard = whisper.read(sound)
    assert (len(heard), whisper.until) == (50, 43)
    assert heard.labels[10] == "0.20–0.22 s"
    assert heard.padding == [i >= 22 for i in range(50)]  # the last of the sound begins at 0.42 s
    target = None if part == "encoder" else whisper.target("one two seven")
    word = "0.20–0.22 s" if part == "encoder" else "two"
    asked = LookRequest(part=part, word=word, asks=part == "cross")
    found = look(whisper, heard, asked, target=target)
    if target is not None:
        assert target.labels == ["<start>", "one", "two", "seven"]  # and what ends it is not read
    ids = torch.tensor([[0, 3, 4, 6]])
    seen = eager(whisper, decoder_input_ids=ids)
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions"}
    assert found.place is not None
    for layer, weights in enumerate(seen[names.get(part, "cross_attentions")]):
        row = weights[0, :, 10 if part == "encoder" else 2]
        torch.testing.assert_close(torch.tensor(found.place.to[layer]), row)


def test_padding_is_left_out_of_links_and_of_nothing_else(whisper: SoundModel, sound: str) -> None:
    """Its weights are the model's own, padding has its share of them, and no link ends there."""
    heard = whisper.read(sound)
    found = look(whisper, heard, LookRequest(part="encoder", links=50))
    seen = eager(whisper, decoder_input_ids=torch.tensor([[0]])).encoder_attentions
    for layer, weights in enumerate(seen):
        to_padding = weights[0, :, :, [0, *range(22, 50)]].double().sum(-1).mean()
        assert found.sink[layer] == pytest.approx(float(to_padding), abs=1e-5)
    ends = {
        end for links in found.links.values() for query, key, _ in links for end in (query, key)
    }
    assert ends
    assert max(ends) < 22
    without = look(whisper, heard, LookRequest(part="encoder", word="0.20–0.22 s", no_sink=True))
    assert without.place is not None
    row = seen[2][0, :, 10, 1:22]
    shared = (row / row.sum(-1, keepdim=True)).numpy()
    assert without.place.to[2][:, 1:22] == pytest.approx(shared, abs=1e-5)


def test_what_whisper_writes_is_its_target(whisper: SoundModel, sound: str) -> None:
    whisper.read(sound)
    written = whisper.target(None)
    assert written.ids[0] == 0
    assert 1 < len(written) <= 23


def test_a_sound_that_is_longer_and_one_of_another_rate(
    whisper: SoundModel, tmp_path: Path
) -> None:
    save_tone(tmp_path / "b.wav", 440, 1.3)  # 8,000 samples a second
    with pytest.warns(UserWarning, match="samples a second|not the rest") as caught:
        heard = whisper.read(str(tmp_path / "b.wav"))
    said = [str(w.message) for w in caught]
    assert "has 8,000 samples a second and the model wants 16,000" in said[0]
    assert said[1].endswith("reads 1.00 s of 1.30: not the rest")
    assert (len(heard), whisper.until) == (50, 100)


def test_refusals(wav2vec2: SoundModel, tmp_path: Path) -> None:
    none = tmp_path / "none.wav"
    none.write_bytes(wav(b""))
    with pytest.raises(DataError, match=r"none\.wav' has no sound in it: its length is zero"):
        wav2vec2.read(str(none))
    short = tmp_path / "short.wav"
    short.write_bytes(wav(b"\0\0" * 80, rate=16000))
    with pytest.raises(DataError, match=r"has 0\.005 s, less than one piece"):
        wav2vec2.read(str(short))
    long = tmp_path / "long.wav"
    long.write_bytes(wav(b"\x80" * 8000 * 301, bits=8))  # before a pass over it
    with pytest.raises(DataError, match="has 301 s of sound, more than 300"):
        wav2vec2.read(str(long))


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"is of the type vit, and regard does not know where"):
        load_sound_model(find(str(_vit(tmp_path / "vit"))))
    folder = save_wav2vec2(tmp_path / "w")
    (folder / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError, match=r"has no preprocessor_config\.json, which says how"):
        load_sound_model(find(str(folder)))


def _vit(folder: Path) -> Path:
    """A model of vision under the processor of one of sounds."""
    (save_wav2vec2(folder.with_name("other")) / "preprocessor_config.json").replace(
        save_vit(folder) / "preprocessor_config.json"
    )
    return folder
