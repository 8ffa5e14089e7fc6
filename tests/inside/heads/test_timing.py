"""Heads that align words with time: by hand, by another computation, in weights made for it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.errors import DataError
from regard.inside.find import find
from regard.inside.heads.timing import REACH, named_heads, time_heads, timing_of
from regard.inside.soundmodel import SoundModel, load_sound_model
from tests.inside.hearing import save_whisper
from tests.sounds import tone, wav


def by_pairs(a: NDArray[np.float64]) -> tuple[float, float, float]:
    """order, sharp and sound of one head (tokens, pieces), pair by pair."""
    n, m = a.shape
    gains = []
    for i in range(n):
        for k in range(i + 1, n):
            gain = 0.0
            for p in range(m):
                for q in range(m):
                    gain += a[i, p] * a[k, q] * (float(q > p) - float(q < p))
            gains.append(gain)
    windows = [
        max(sum(row[j] for j in range(m) if abs(j - t) <= REACH) for t in range(m)) for row in a
    ]
    return float(np.mean(gains)), float(np.mean(windows)), float(a.sum(1).mean())


@given(st.integers(2, 5), st.integers(1, 11), st.integers(0, 2**20))
def test_equals_the_sums_pair_by_pair(tokens: int, pieces: int, seed: int) -> None:
    """Rows may sum to less than 1: the rest is on padding."""
    a = np.random.default_rng(seed).dirichlet(np.full(pieces + 1, 0.3), (3, tokens))[..., :pieces]
    for head, found in zip(a, timing_of(torch.from_numpy(a)), strict=True):
        assert [found.order, found.sharp, found.sound] == pytest.approx(by_pairs(head), abs=1e-12)
        assert found.score == pytest.approx(max(0, found.order) * found.sharp)


def test_the_diagonal_wins() -> None:
    """Six tokens, 30 pieces: what each head must get can be said without computing."""
    n, m = 6, 30
    diagonal, sink, late = (np.zeros((n, m)) for _ in range(3))
    diagonal[range(n), range(2, 2 + 5 * n, 5)] = 1  # a piece each, the next one further on
    sink[:, 3] = 1  # always the same
    late[range(n), range(0, 3 * n, 3)] = 0.25  # in order, but 3/4 are on padding
    everywhere = np.full((n, m), 1 / m)
    wide = np.zeros((n, m))
    for i in range(n):  # in order, over a third of the sound
        wide[i, 4 * i : 4 * i + 10] = 0.1
    heads = np.stack([diagonal, sink, diagonal[::-1], everywhere, late, wide])
    found = timing_of(torch.from_numpy(heads))
    figures = [(each.order, each.sharp, each.sound) for each in found[:5]]
    assert figures == [
        pytest.approx(each)
        for each in [(1, 1, 1), (0, 1, 1), (-1, 1, 1), (0, 5 / 30, 1), (1 / 16, 1 / 4, 1 / 4)]
    ]
    assert found[5].order > 0.8
    assert found[5].sharp == pytest.approx(0.5)
    scores = [each.score for each in found]
    assert scores[0] == 1
    assert scores[1] == scores[2] == 0
    assert max(scores[1:]) == scores[5] < 0.5


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> str:
    """0.64 s: 32 pieces of a second's 50."""
    file = tmp_path_factory.mktemp("sound") / "a.wav"
    file.write_bytes(wav((tone(440, 0.64, 16000) * 32767).astype("<i2").tobytes(), rate=16000))
    return str(file)


@pytest.fixture
def whisper(tmp_path: Path) -> SoundModel:
    return load_sound_model(find(str(save_whisper(tmp_path / "whisper"))))


def test_its_weights_are_those_of_eager_attention(whisper: SoundModel, sound: str) -> None:
    heard = whisper.read(sound)
    found = time_heads(whisper, heard, whisper.target("one two three seven"))
    assert found.text == ["one", "two", "three", "seven"]
    assert (found.pieces, found.padding) == (32, 18)
    assert found.window == pytest.approx(0.1)
    network: Any = whisper.network
    network.set_attn_implementation("eager")
    with torch.no_grad():
        seen = network(
            whisper.heard,
            decoder_input_ids=torch.tensor([[0, 3, 4, 5, 6]]),
            output_attentions=True,
        ).cross_attentions
    for layer, weights in enumerate(seen):
        for head in range(2):
            own = found.heads[layer, head]
            expected = by_pairs(weights[0, head, 1:, :32].double().numpy())
            assert [own.order, own.sharp, own.sound] == pytest.approx(expected, abs=1e-5)


def make_aligned(network: Any, layer: int, head: int, pace: int) -> None:
    """Weights with which one head looks at piece pace · i for token i, and all others everywhere.

    Pieces and tokens are made of their places alone, points of a quarter of a circle; queries and
    keys of the head are these points, all others 0.
    """
    body = network.model
    width = 13  # of a head

    def circle(places: torch.Tensor) -> torch.Tensor:
        angle = places / 50 * math.pi / 2
        four = torch.stack([angle.cos(), angle.sin(), -angle.cos(), -angle.sin()], -1)
        return torch.nn.functional.pad(four, (0, 22))  # their mean is 0: the norm keeps them

    for parameter in network.parameters():
        parameter.zero_()
    for module in network.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.weight.fill_(1)
    body.encoder.embed_positions.weight.copy_(circle(torch.arange(50.0)))
    body.decoder.embed_positions.weight.copy_(circle(pace * torch.arange(23.0)))
    attention = body.decoder.layers[layer].encoder_attn
    for linear, gain in ((attention.q_proj, 60.0), (attention.k_proj, 60.0)):
        linear.weight[head * width, 0] = linear.weight[head * width + 1, 1] = gain


@torch.no_grad()
def test_a_head_that_was_made_to_align_wins(whisper: SoundModel, sound: str) -> None:
    make_aligned(whisper.network, layer=1, head=0, pace=7)
    heard = whisper.read(sound)
    found = time_heads(whisper, heard, whisper.target("one two three seven"))
    best, *others = found.ranked()
    assert best == (1, 0)
    assert found.heads[best].order > 0.95
    assert found.heads[best].score > 0.7
    for place in others:
        assert found.heads[place].score == pytest.approx(0, abs=1e-6)
        assert found.heads[place].sound == pytest.approx(32 / 50, abs=1e-5)


def test_heads_that_the_model_names(whisper: SoundModel, sound: str) -> None:
    network: Any = whisper.network
    places = [(layer, head) for layer in range(3) for head in range(2)]
    assert named_heads(whisper, places) == []
    network.generation_config.alignment_heads = [[2, 1], [1, 0], [9, 9], 7]
    assert named_heads(whisper, places) == [(1, 0), (2, 1)]
    with torch.no_grad():
        make_aligned(network, layer=1, head=0, pace=7)
    found = time_heads(whisper, whisper.read(sound), whisper.target("one two three seven"))
    assert found.named == [(1, 0), (2, 1)]
    # (1, 0) is ahead of four others; (2, 1) is level with them, but for the last bits.
    assert found.ahead() == pytest.approx(0.75, abs=0.25)


def test_an_order_needs_two_tokens(whisper: SoundModel, sound: str) -> None:
    heard = whisper.read(sound)
    with pytest.raises(DataError, match="at least two tokens of text, there are 1: give a longer"):
        time_heads(whisper, heard, whisper.target("one"))
