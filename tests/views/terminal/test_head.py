"""The steps of one head on one screen, from a trace."""

from __future__ import annotations

import io
import re

import numpy as np
import torch

from regard.models.bert.config import BertConfig
from regard.models.bert.encoder import BertEncoder
from regard.record import record
from regard.trace import Trace
from regard.views.terminal.console import make_console
from regard.views.terminal.head import Head, format_tokens, print_head


def traced(n: int) -> Trace:
    """Layer 0 of a small random model over n tokens."""
    torch.manual_seed(3)
    model = BertEncoder(BertConfig(101, 14, 1, 2, 11, 97, 2, 1e-9, 0.0)).double().eval()
    with torch.no_grad(), record("", [f"w{i}" for i in range(n)]) as trace:
        model(torch.arange(n))
    return trace


def shown(trace: Trace, **settings: int | bool) -> str:
    file = io.StringIO()
    print_head(Head(trace, 5, 1, make_console(file), to=2, **settings))  # type: ignore[arg-type]
    return file.getvalue()


def test_the_table_holds_the_numbers_of_the_trace() -> None:
    trace = traced(7)
    text = shown(trace)
    rows = re.findall(r"(?m)^   (w\d) +(-?[\d.]+) +(-?[\d.]+) +([\d.]+) ", text)
    assert [row[0] for row in rows] == trace.tokens
    for column, name in enumerate(("scores", "scaled", "weights"), start=1):
        numbers = [float(row[column]) for row in rows]
        np.testing.assert_allclose(numbers, trace.value(name)[1, 5], atol=0.005)
    assert "3  Scaled scores     e[i,j] / sqrt(7)" in text
    assert "after layer" not in text, "the first layer is given the embedding itself"
    assert re.search(r"k of w2 \[", text)
    assert text.index("+ position 5") < text.index("= normed")


def test_what_came_before_a_later_layer_is_named() -> None:
    assert "after layer 0 [" in shown(traced(7), layer=1)
    assert "after layers 0 to 3 [" in shown(traced(7), layer=4)


def test_a_long_text_shows_its_strongest_tokens_and_counts_the_rest() -> None:
    trace = traced(90)
    text = shown(trace)
    weights = np.sort(trace.value("weights")[1, 5])[::-1]
    rest = re.search(r"and (\d+) more tokens, together ([\d.]+); weights sum to 1.0000", text)
    assert rest is not None
    assert int(rest[1]) in (65, 66), "24 are shown, and the word itself"
    assert abs(float(rest[2]) - weights[24:].sum()) < weights[24] + 1e-3
    assert len(text.splitlines()) < 60


def test_tokens_around_the_word() -> None:
    few = format_tokens(["a", "\x1b[31m", "c"], 1).plain
    assert few == "a \\x1b[31m c"
    many = format_tokens([f"w{i}" for i in range(100)], 50).plain
    assert many.startswith("… w30 w31")
    assert many.endswith("w69 … (100 tokens)")
