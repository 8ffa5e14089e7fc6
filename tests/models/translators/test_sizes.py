from __future__ import annotations

import pytest
import torch

from regard.errors import ConfigError
from regard.models import MODELS, build, sized


def parameters(name: str, size: str, vocabulary: int) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in build(sized(name, size, vocabulary)).parameters())


@pytest.mark.parametrize("name", MODELS)
def test_designs_of_one_size_have_about_as_many_parameters(name: str) -> None:
    assert parameters(name, "tiny", 4000) == pytest.approx(0.65e6, rel=0.03)
    assert parameters(name, "small", 4000) == pytest.approx(3.0e6, rel=0.03)


@pytest.mark.parametrize("name", MODELS)
def test_small_fits_six_megabytes_in_half_precision(name: str) -> None:
    assert 2 * parameters(name, "small", 4000) < 6.1e6


def test_the_transformers_base_is_the_papers() -> None:
    """d 512, 8 heads, feed-forward 2048, 6 + 6 layers, post-norm, 37,000 shared tokens: 63 M in
    matrices (the paper rounds to 65 million)."""
    config = sized("transformer", "base", 37_000)
    assert (config.width, config.heads, config.feedforward) == (512, 8, 2048)
    assert (config.layers, config.norm, config.dropout, config.tied) == (6, "post", 0.1, True)
    attention, feedforward = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512
    encoder, decoder = attention + feedforward + 4 * 512, 2 * attention + feedforward + 6 * 512
    expected = 6 * encoder + 6 * decoder + 37_000 * 512 + 37_000
    assert parameters("transformer", "base", 37_000) == expected


def test_bahdanaus_base_is_the_papers() -> None:
    """1000 hidden units, 620-dimensional words, 500 maxout units, alignment of 1000."""
    config = sized("bahdanau", "base", 30_000)
    assert (config.hidden, config.width, config.readout, config.tied) == (1000, 620, 500, False)
    n, m, units, v = 1000, 620, 500, 30_000
    encoder = 2 * (3 * n * (m + n) + 3 * n)
    decoder = 3 * n * (m + n + 2 * n) + 3 * n + n * n + n
    alignment = n * n + n * 2 * n + n
    readout = 2 * units * (n + m + 2 * n) + 2 * units
    words = 2 * v * m + v * units + v
    expected = encoder + decoder + alignment + readout + words
    assert parameters("bahdanau", "base", v) == expected


def test_single_settings_can_be_changed() -> None:
    assert sized("transformer", "small", 100, norm="post", layers=1).layers == 1


def test_unknown_names_are_told() -> None:
    with pytest.raises(ConfigError, match="size must be one of tiny, small, base, got 'smal'; did"):
        sized("bahdanau", "smal", 100)
    with pytest.raises(ConfigError, match=r"model must be one of word-by-word, .* got 'rnn'"):
        sized("rnn", "small", 100)
