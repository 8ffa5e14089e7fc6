"""The way as a trace: names, formulas and numbers of every layout."""

from __future__ import annotations

import pytest

from regard.inside.explain.waytrace import added_formula, way_trace
from regard.pieces.pieces import Pieces
from tests.inside.anatomy.cases import ROW, dissected

READ = Pieces.plain([f"w{i}" for i in range(9)])


def formulas(family: str, head: str = "ForCausalLM") -> dict[str, str]:
    trace = way_trace(dissected(family, head)[0], "tiny", READ, ROW)
    return {step.path.removeprefix("layer 0/"): step.formula for step in trace}


def test_norm_before() -> None:
    found = formulas("GPT2")
    assert found["embedding"] == "E w + P"
    assert found["attention_norm"] == "norm(x)"
    assert found["attention"] == "attention(norm(x))"
    assert found["after_attention"] == "x + attention"
    assert found["feed_forward"] == "W_2 gelu_tanh(W_1 x + b_1) + b_2, x = norm(x')"
    assert found["hidden"] == "x' + feed-forward"
    assert found["last"] == "(x − mean x) / sd x · g + b"


@pytest.mark.filterwarnings("ignore")
def test_norm_after_and_side_by_side() -> None:
    after = formulas("Bert", "Model")
    assert after["embedding"] == "norm(E w + P + T)"
    assert after["after_attention"] == "norm(x + attention)"
    assert "attention_norm" not in after
    beside = formulas("GPTNeoX")
    assert beside["hidden"] == "x + attention + feed-forward"
    assert "after_attention" not in beside


def test_a_scale_a_factor_and_a_norm_of_what_is_put_out() -> None:
    assert formulas("Granite")["word_vector"] == "3 E w"
    assert formulas("Granite")["attention"] == "0.3 · attention(norm(x))"
    first = dissected("Olmo2")[0].sublayers[0]
    assert added_formula(first) == "norm(attention(x))"
