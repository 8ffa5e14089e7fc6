"""``look --image``, ``--sound``, ``--series``: words, pictures, files, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import regard
from tests.inside.hearing import save_patchtst, save_table, save_wav2vec2, save_whisper
from tests.inside.onnx.graphs import recogniser
from tests.inside.vision import save_image, save_vit
from tests.sounds import save_tone, wav


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("vision")
    save_vit(made / "vit")
    save_image(made / "a.png")
    save_whisper(made / "whisper")
    save_wav2vec2(made / "wav2vec2")
    save_tone(made / "a.wav", 440, 0.43)
    (made / "none.wav").write_bytes(wav(b""))
    save_patchtst(made / "patchtst")
    save_table(made / "t.csv")
    return made


def test_a_patch_by_its_pixel(folder: Path) -> None:
    files = ("--png", "o.png", "--json", "o.json", "--html", "o.html")
    done = regard("look", "vit", "--image", "a.png", "--at", "50,40", *files, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "vit: 26 pieces, 3 layers, 2 heads each" in done.stdout
    assert "'2,2' attends to" in done.stdout
    assert "2,2: mean of the 6 heads of 3 layers" in done.stdout
    assert (folder / "o.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "o.json").read_text())["model"] == "vit"
    assert "2,2" in (folder / "o.html").read_text()


def test_one_head_and_the_overview(folder: Path) -> None:
    one = ("--layer", "1", "--head", "0", "--piece", "17")
    done = regard("look", "vit", "--image", "a.png", *one, folder=folder)
    assert "3,1: layer 1, head 0" in done.stdout
    done = regard("look", "vit", "--image", "a.png", folder=folder)
    assert "Strongest links between two patches" in done.stdout
    assert "[CLS]: mean of the 6 heads" in done.stdout


def test_rollout_is_drawn_after_the_last_layer_and_called_derived(folder: Path) -> None:
    asked = ("--measure", "rollout", "--at", "50,40", "--json", "r.json")
    done = regard("look", "vit", "--image", "a.png", *asked, folder=folder)
    assert "2,2: through the layers up to 2, derived: rollout" in done.stdout
    said = " ".join(done.stdout.split())
    assert "attention rollout, the heads averaged and half of each patch kept" in said
    assert "word" not in said
    assert json.loads((folder / "r.json").read_text())["measure"] == "rollout"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--at", "left"), "--at is a pixel of the image, X,Y such as 120,80; got 'left'"),
        (("--at", "500,3"), "the image has 120 x 90 pixels, counted from 0; got 500,3"),
        (("--piece", "26"), "pieces are counted from 0: there are 26, of which 1 special; got 26"),
        (("--at", "1,1", "--piece", "2"), "both name a piece: give one of them"),
        (("--word", "cat"), "--word is for texts, and --image gives none"),
        (("a text",), "look takes a text or --image FILE; got both"),
        (("--layer", "1", "--head", "7"), "heads are counted from 0: this layer has 2, got 7"),
    ],
)
def test_refused_in_one_line(folder: Path, given: tuple[str, ...], said: str) -> None:
    done = regard("look", "vit", "--image", "a.png", *given, folder=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_an_image(folder: Path) -> None:
    done = regard("look", "vit", "--at", "1,1", folder=folder)
    assert "--at is a place in an image, a sound or a series: it goes with --image" in done.stderr
    done = regard("look", "vit", "--image", "none.png", folder=folder)
    assert done.returncode == 2
    assert "none.png" in done.stderr


def test_a_line_of_text_by_an_onnx_file(folder: Path) -> None:
    recogniser(folder / "lines.onnx")
    save_image(folder / "line.png", 200, 40)
    files = ("--png", "l.png", "--html", "l.html")
    done = regard(
        "look", "lines.onnx", "--image", "line.png", "--piece", "3", *files, folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("reads: ")
    assert "proof: run by regard's own attention and by onnxruntime" in done.stdout
    assert "lines.onnx: 30 pieces, 1 layer, 2 heads each" in done.stdout
    assert "proof: run by" in (folder / "l.html").read_text()
    done = regard("look", "lines.onnx", "a text", folder=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'lines.onnx' is an ONNX file and reads no text here" in done.stderr
    done = regard("look", "lines.onnx", "--image", "a.wav", folder=folder)
    assert "'a.wav' is no image that Pillow reads" in done.stderr


def _flat(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())


def test_a_sound_at_a_second(folder: Path) -> None:
    files = ("--png", "s.png", "--json", "s.json", "--html", "s.html")
    done = regard("look", "whisper", "--sound", "a.wav", "--at", "0.2", *files, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "note: 'a.wav' has 8,000 samples a second and the model wants 16,000" in done.stderr
    assert "0.20–0.22 s: mean of the 6 heads of 3 layers" in done.stdout
    assert "whisper, encoder: 50 pieces, 3 layers" in done.stdout
    assert "of the weight goes to the 28 pieces behind the sound's end" in done.stdout
    assert "28 of the 50 pieces that are read are padding, behind the end" in _flat(done.stdout)
    assert "the first span (0.00–0.02 s) and the 28 pieces of padding" in _flat(done.stdout)
    assert (folder / "s.png").read_bytes().startswith(b"\x89PNG")
    content = json.loads((folder / "s.json").read_text())
    assert content["word"]["text"] == "0.20–0.22 s"
    assert content["padding"] == list(range(22, 50))
    assert [name.endswith("(pad)") for name in content["tokens"]] == [i >= 22 for i in range(50)]
    done = regard("look", "whisper", "--sound", "a.wav", "--no-sink", folder=folder)
    assert "behind the sound's end" not in done.stdout
    assert "every weight here is renormalised, shared out anew" in _flat(done.stdout)
    assert "28 of the 50 pieces that ask are padding" in _flat(done.stdout)
    page = (folder / "s.html").read_text()
    assert "spectrogram" in page
    assert "28 of the 50 pieces are padding (pad): they stand behind the end" in page


def test_a_word_that_a_model_writes_of_a_sound(folder: Path) -> None:
    asked = ("--part", "cross", "--target", "one two seven", "--word", "two")
    done = regard("look", "whisper", "--sound", "a.wav", *asked, folder=folder)
    assert "two: mean of the 6 heads of 3 layers" in done.stdout
    assert "whisper, cross: 4 tokens" in done.stdout
    done = regard("look", "whisper", "--sound", "a.wav", "--part", "decoder", folder=folder)
    assert "whisper, decoder:" in done.stdout


def test_a_series_at_a_time(folder: Path) -> None:
    asked = ("--channel", "level", "--at", "1030", "--html", "t.html", "--svg", "t.svg")
    done = regard("look", "patchtst", "--series", "t.csv", *asked, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "1027: mean of the 6 heads of 3 layers" in done.stdout
    assert "patchtst: 8 pieces, 3 layers, 2 heads each" in done.stdout
    assert "<svg" in (folder / "t.svg").read_text()
    assert '"kind":"curve"' in (folder / "t.html").read_text().replace(" ", "")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("whisper", "--sound", "none.wav"), "'none.wav' has no sound in it: its length is zero"),
        (("whisper", "--sound", "a.png"), "'a.png' is no wav file"),
        (("vit", "--image", "a.png", "--png", "a.png"), "--png would write over 'a.png', which is"),
        (("whisper", "--sound", "a.wav", "--json", "a.wav"), "--json would write over 'a.wav'"),
        (("patchtst", "--series", "t.csv", "--csv", "./t.csv"), "--csv would write over './t.csv'"),
        (("whisper", "--sound", "a.wav", "--at", "0.5"), "the sound has 0.43 s, from 0; got --at"),
        (("wav2vec2", "--sound", "a.wav", "--at", "7"), "the sound has 0.43 s, from 0; got --at"),
        (("whisper", "--sound", "a.wav", "--at", "1,1"), "--at is a second of the sound"),
        (("whisper", "--sound", "a.wav", "--word", "two"), "add --part cross"),
        (("whisper", "--sound", "a.wav", "--image", "a.png"), "one thing is read: give --image"),
        (("whisper", "--image", "a.png"), "'whisper' is no model of vision"),
        (("patchtst", "--sound", "a.wav"), "'patchtst' has no preprocessor_config.json"),
        (("vit", "--series", "t.csv"), "'vit' is of the type vit, and regard does not know"),
        (("patchtst", "--series", "t.csv", "--channel", "x"), "there is no column 'x' among"),
        (("patchtst", "--series", "t.csv", "--measure", "rollout"), "--measure is of texts"),
        (("patchtst", "--series", "gap.csv"), "has a gap from '3' to '9'"),
        (("patchtst", "--series", "back.csv"), "must go forwards; '1' comes after '2'"),
        (("patchtst", "--channel", "x"), "--channel says how a table is read"),
    ],
)
def test_other_things_are_refused_in_one_line(
    folder: Path, given: tuple[str, ...], said: str
) -> None:
    (folder / "gap.csv").write_text("time,a,b\n1,0,0\n2,0,0\n3,0,0\n9,0,0\n")
    (folder / "back.csv").write_text("time,a,b\n2,0,0\n1,0,0\n")
    done = regard("look", *given, folder=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.splitlines()[-1].startswith("regard: error: ")
    assert not done.stdout
