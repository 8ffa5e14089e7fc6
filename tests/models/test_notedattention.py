"""What was noted of attention: by words, by layers and heads, or not there."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.models.notedattention import (
    attention_layers,
    attention_of,
    attention_steps,
    of_head,
    of_head_if_any,
)
from regard.text import Word
from regard.trace import Step, Trace

WEIGHTS = np.array([[1.0, 0, 0], [0.25, 0.75, 0], [0.5, 0.125, 0.375]])
WORDS = [Word("a", 0, 1), Word("bc", 1, 3)]


def noted(*values: np.ndarray, name: str = "attention", scope: str = "") -> Trace:
    axes = ("batch", "head", "query", "key")
    return Trace(
        [Step(name, v[None], axes=(*axes[:1], *axes[-v.ndim :]), scope=scope) for v in values]
    )


def test_pieces_of_a_word_give_the_mean_and_get_the_sum() -> None:
    found = attention_of(noted(WEIGHTS), WORDS)
    assert found.shape == (1, 1, 2, 2)
    np.testing.assert_array_equal(found[0, 0], [[1, 0], [0.375, 0.625]])


def test_recurrent_notes_come_before_those_of_a_transformer() -> None:
    own = noted(np.stack([WEIGHTS, WEIGHTS.T]), name="weights", scope="layer 0/self-attention")
    assert [layer.shape for layer in attention_layers(own)] == [(2, 3, 3)]
    assert attention_layers(noted(WEIGHTS, name="weights", scope="cross")) == []
    assert attention_of(noted(), WORDS).shape == (0, 1, 2, 2)


def test_steps_have_a_layer_each() -> None:
    one, two = attention_steps(np.zeros((2, 1, 3, 3)), list("abc"))
    assert (one.path, two.path) == ("layer 0/attention", "layer 1/attention")
    assert one.axes == ("query", "key")
    assert attention_steps(np.zeros((1, 5, 3, 3)), list("abc"))[0].value.shape == (5, 3, 3)


def test_a_head_or_their_mean_of_a_layer_or_the_last() -> None:
    attention = np.arange(2 * 3 * 5 * 5.0).reshape(2, 3, 5, 5)
    np.testing.assert_array_equal(of_head(attention), attention[1].mean(0))
    np.testing.assert_array_equal(of_head(attention, 0, 2), attention[0, 2])
    with pytest.raises(ConfigError, match="head must be from 0 to 2, got 3"):
        of_head(attention, 0, 3)


def test_of_a_model_without_attention_nothing_can_be_asked() -> None:
    none = np.zeros((0, 1, 3, 3))
    assert of_head_if_any("lstm", none, None, None) is None
    with pytest.raises(ConfigError, match="lstm has no attention: leave --head out"):
        of_head_if_any("lstm", none, None, 1)
