"""Models of vision: what they read of an image, and that what is seen are their own weights."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import regard
from regard.errors import DataError, ModelError
from regard.inside.find import find
from regard.inside.imagemodel import ImageModel, load_image_model, open_image, seen
from regard.inside.look.look import look
from regard.pieces.look import LookRequest
from tests.inside.vision import TINY, save_dino, save_image, save_vit
from tests.pictures import huge


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_image(tmp_path_factory.mktemp("image") / "a.png")


@pytest.fixture(scope="module")
def vit(tmp_path_factory: pytest.TempPathFactory) -> ImageModel:
    return load_image_model(find(str(save_vit(tmp_path_factory.mktemp("vit")))))


@torch.no_grad()
def test_a_look_shows_the_weights_of_eager_attention(vit: ImageModel, image: Path) -> None:
    read = vit.read(str(image))
    assert (read.rows, read.columns, read.special) == (5, 5, 1)
    assert read.pieces.places[1] == (0, 0, 24, 18)
    found = look(vit, read.pieces, LookRequest(word="2,3"))
    network: Any = vit.network
    network.set_attn_implementation("eager")
    eager = network(pixel_values=vit.image, output_attentions=True).attentions
    assert found.place is not None
    for layer in range(3):
        torch.testing.assert_close(
            torch.tensor(found.place.to[layer]), eager[layer][0, :, 1 + 2 * 5 + 3]
        )


def test_registers_and_the_part_that_is_cut_out(tmp_path: Path, image: Path) -> None:
    model = load_image_model(find(str(save_dino(tmp_path))))
    read = model.read(str(image))
    assert read.pieces.labels[:4] == ["[CLS]", "[REG0]", "[REG1]", "0,0"]
    # 120 x 90 becomes 64 x 48, of which 40 x 40 in the middle: 75 of 120 and 75 of 90 pixels.
    assert read.pieces.places[3][:2] == (22, 8)
    assert read.pieces.places[-1][2:] == (97, 83)
    assert len(look(model, read.pieces).heads) == 6


def test_the_cut_is_what_the_processor_cuts(image: Path, tmp_path: Path) -> None:
    """A white dot inside the border is read as brightness, one outside is not."""
    model = load_image_model(find(str(save_dino(tmp_path))))
    dark = open_image(str(image)).point(lambda _: 0)
    box = seen(model.processor, dark.size)
    values = []
    for dot in ((box[0] + 3, 50), (box[0] - 4, 50)):
        dotted = dark.copy()
        dotted.paste((255, 255, 255), (dot[0] - 1, dot[1] - 1, dot[0] + 2, dot[1] + 2))
        made = model.processor(images=dotted, return_tensors="pt")["pixel_values"]
        values.append(float(made.max() - made.min()) > 1.5)
    assert values == [True, False]


def test_refusals(vit: ImageModel, tmp_path: Path, image: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("no image")
    with pytest.raises(DataError, match=r"'.*a\.txt' is no image that Pillow reads"):
        open_image(str(text))
    cut = tmp_path / "cut.png"
    cut.write_bytes(image.read_bytes()[:90])
    with pytest.raises(DataError, match=r"cut\.png' is a damaged image"):
        open_image(str(cut))
    small = SimpleNamespace(
        do_center_crop=True, do_resize=False, size={}, crop_size={"height": 40, "width": 40}
    )
    with pytest.raises(DataError, match="30 x 50 pixels, less than the 40 x 40"):
        seen(small, (30, 50))
    with pytest.raises(ModelError, match="adds a border"):
        seen(SimpleNamespace(do_pad=True), (30, 50))


def test_an_image_that_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.inside.imagemodel.MOST_PIXELS", 10_000)
    with pytest.raises(DataError, match=r"120 x 90 pixels, more than 10,000 in all"):
        open_image(str(save_image(tmp_path / "a.png")))


def test_an_image_beyond_pillows_own_bound_is_told_so(tmp_path: Path) -> None:
    """Its header says 900 million pixels, which Pillow refuses before it is asked for its size."""
    bomb = tmp_path / "bomb.png"
    bomb.write_bytes(huge())
    with pytest.raises(DataError, match=r"bomb\.png' has more than 50,000,000 pixels in all"):
        open_image(str(bomb))


def test_a_folder_without_a_processor(tmp_path: Path) -> None:
    save_vit(tmp_path)
    (tmp_path / "preprocessor_config.json").unlink()
    with pytest.raises(ModelError, match=r"has no preprocessor_config\.json"):
        load_image_model(find(str(tmp_path)))


def test_pieces_that_are_not_those_of_the_model(vit: ImageModel, image: Path) -> None:
    read = vit.read(str(image))
    with pytest.raises(ModelError, match="attends from 26 pieces to 26, and 25 and 25 were read"):
        look(vit, read.pieces.without_last())


SOUNDS: dict[str, tuple[int, ...]] = {"input_values": (1, 3000)}
OTHERS: dict[str, dict[str, tuple[int, ...]]] = {
    "DeiT": {"pixel_values": (1, 3, 40, 40)},
    "Beit": {"pixel_values": (1, 3, 40, 40)},
    "Dinov2": {"pixel_values": (1, 3, 40, 40)},
    "CLIPVision": {"pixel_values": (1, 3, 40, 40)},
    "SiglipVision": {"pixel_values": (1, 3, 40, 40)},
    "ViTMSN": {"pixel_values": (1, 3, 40, 40)},
    "Wav2Vec2": SOUNDS,
    "Hubert": SOUNDS,
    "ASTModel": {"input_values": (1, 40, 16)},
    "PatchTST": {"past_values": (1, 40, 3)},
}
"""Families that read no text, and the shape of what they read."""


@pytest.mark.parametrize("family", OTHERS)
@torch.no_grad()
def test_families_that_read_no_text(family: str) -> None:
    import transformers

    model = _tiny(transformers, family)
    torch.manual_seed(11)
    given = {name: torch.randn(shape) for name, shape in OTHERS[family].items()}
    before = model(**given)[0]
    with regard.observe(model) as observation:
        after = model(**given)[0]
    assert torch.equal(before, after)
    model.set_attn_implementation("eager")
    eager = [w for w in model(**given, output_attentions=True).attentions if w is not None]
    own = [layer for layer in observation if layer.kind == "self"]  # SigLIP pools by another one
    assert len(own) == len(eager) == 2
    for layer, weights in enumerate(eager):
        rows = weights.reshape(-1, *weights.shape[-3:])  # PatchTST has an axis of channels more
        for batch in range(len(rows)):
            for head in range(2):
                got = observation.map(layer, head, batch=batch).dense()
                torch.testing.assert_close(got, rows[batch, head])


@torch.no_grad()
def test_a_decision_transformer() -> None:
    """Returns, states and actions in turn; each sees those before it."""
    from transformers import DecisionTransformerConfig, DecisionTransformerModel

    torch.manual_seed(7)
    sizes: dict[str, Any] = {
        "state_dim": 5,
        "act_dim": 3,
        "hidden_size": 26,
        "n_head": 2,
        "n_layer": 2,
    }
    config = DecisionTransformerConfig(**sizes, max_ep_len=11, n_positions=64)
    model = DecisionTransformerModel(config).eval()  # type: ignore[no-untyped-call]
    given = {
        "states": torch.randn(1, 4, 5),
        "actions": torch.randn(1, 4, 3),
        "rewards": torch.randn(1, 4, 1),
        "returns_to_go": torch.randn(1, 4, 1),
        "timesteps": torch.arange(4).unsqueeze(0),
    }
    names = [f"{kind}{time}" for time in range(4) for kind in ("return ", "state ", "action ")]
    before = model(**given).action_preds
    with regard.observe(model, tokens=names) as observation:
        assert torch.equal(model(**given).action_preds, before)
    model.set_attn_implementation("eager")
    eager = model(**given, output_attentions=True).attentions
    assert len(eager) == len(observation) == 2
    for layer, weights in enumerate(eager):
        for head in range(2):
            torch.testing.assert_close(observation[layer, head].dense(), weights[0, head])
    assert observation[1, 0].queries[4] == "state 1"


def _tiny(transformers: Any, family: str) -> Any:
    """A model of two layers of two heads."""
    name = family.removesuffix("Model")
    sizes: dict[str, Any] = TINY | {"num_hidden_layers": 2}
    if family in ("Wav2Vec2", "Hubert"):
        sizes |= {"conv_dim": (8, 8), "conv_stride": (5, 4), "conv_kernel": (5, 4)}
        sizes |= {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}
    if family == "ASTModel":
        sizes |= {"max_length": 40, "num_mel_bins": 16}
    if family == "PatchTST":
        sizes = {"num_input_channels": 3, "context_length": 40, "patch_length": 8}
        sizes |= {"patch_stride": 8, "d_model": 26, "num_attention_heads": 2, "ffn_dim": 31}
        sizes |= {"num_hidden_layers": 2}
    torch.manual_seed(7)
    return getattr(transformers, f"{name}Model")(
        getattr(transformers, f"{name}Config")(**sizes)
    ).eval()
