"""Models of series: the patches that they read, and that what is seen are their own weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.errors import DataError, ModelError
from regard.inside.find import find
from regard.inside.look.look import look
from regard.inside.seriesmodel import SeriesModel, load_series_model
from regard.pieces.look import LookRequest
from regard.pieces.seriesfile import read_series
from tests.inside.hearing import save_patchtst, save_table
from tests.inside.vision import save_vit


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SeriesModel:
    return load_series_model(find(str(save_patchtst(tmp_path_factory.mktemp("patchtst")))))


@pytest.mark.parametrize("channel", [0, 1])
def test_a_look_shows_the_weights_of_eager_attention(
    model: SeriesModel, tmp_path: Path, channel: int
) -> None:
    series = read_series(save_table(tmp_path / "t.csv"))
    read = model.read(series, channel)
    # 43 of 60 steps; 8 + 7 · 5 of them in patches, so none is left out in front.
    assert read.start == 17
    assert read.pieces.places[:2] == [(0, 8), (5, 13)]
    assert read.pieces.places[-1] == (35, 43)
    assert read.pieces.labels[1] == "1022"
    found = look(model, read.pieces, LookRequest(word="1022", page=True))
    network: Any = model.network
    network.set_attn_implementation("eager")
    with torch.no_grad():
        eager = network(past_values=model.past, output_attentions=True).attentions
    network.set_attn_implementation("sdpa")
    assert found.place is not None
    for layer in range(3):
        expected = eager[layer].reshape(-1, 2, 8, 8)[channel, :, 1]
        torch.testing.assert_close(torch.tensor(found.place.to[layer]), expected)
    assert found.page is not None
    sheet = found.page.sheets[0]
    scores = torch.tensor(sheet.query) @ torch.tensor(sheet.key).mT / 13**0.5
    torch.testing.assert_close(
        scores.softmax(-1), eager[0].reshape(-1, 2, 8, 8)[channel], atol=2e-3, rtol=0
    )


def test_what_is_over_is_left_out_in_front_and_a_class_token_comes_first(tmp_path: Path) -> None:
    folder = save_patchtst(tmp_path / "m", context_length=45, use_cls_token=True)
    model = load_series_model(find(str(folder)))
    read = model.read(read_series(save_table(tmp_path / "t.csv")), 0)
    assert read.pieces.labels[0] == "[CLS]"
    assert read.pieces.places[:2] == [(), (2, 10)]
    assert len(look(model, read.pieces).heads) == 6  # as many pieces as the model has
    assert read.at("1018") == 1
    with pytest.raises(DataError, match=r"does not read '1000': it reads from '1017' to '1059'"):
        read.at("1000")


def test_refusals(model: SeriesModel, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="reads 43 steps, and the table has 40"):
        model.read(read_series(save_table(tmp_path / "t.csv", 40)), 0)
    one = read_series(save_table(tmp_path / "t.csv"), columns=["load"])
    with pytest.raises(DataError, match=r"reads 2 channels at once, and the table has 1 \(load\)"):
        model.read(one, 0)
    with pytest.raises(ModelError, match=r"of the type vit, .* --series takes PatchTST"):
        load_series_model(find(str(save_vit(tmp_path / "vit"))))
    across = save_patchtst(tmp_path / "across", channel_attention=True)
    with pytest.raises(ModelError, match="lets channels attend to each other"):
        load_series_model(find(str(across)))
