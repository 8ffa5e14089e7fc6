"""Dialect: what a mechanism needs depends on its options."""

from __future__ import annotations

from regard.worked.dialects import DIALECTS


def test_what_is_needed_and_refused_goes_with_the_choice() -> None:
    dialect = DIALECTS["simple-rnn+attention"]
    dot = {"form": "xc", "align": "dot"}
    assert dialect.needed(dot) == ("x", "a", "w_k", "w_q")
    assert dialect.refused(dot) == {"w": ("align", "additive"), "v": ("align", "additive")}
    assert dialect.axes_of("a", dot) == ("width+hidden", "hidden")
    assert dialect.axes_of("a", {**dot, "form": "xch"}) == ("width+hidden+hidden", "hidden")


def test_settings() -> None:
    assert DIALECTS["simple-rnn"].settings == ()
    assert DIALECTS["softmax"].settings == ("mask", "temperature")
    assert {"heads", "key_heads", "memory_tokens", "d_k"} <= set(DIALECTS["cross"].settings)
