"""Formulas: as text, as MathML, and refused where something is not known."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from regard.errors import RegardError
from regard.views.formula import mathml, plain_formula


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"e_{ij} = v \cdot \tanh(W s_{i-1} + U h_j)", "e_ij = v · tanh(W s_{i-1} + U h_j)"),
        (r"\frac{q_i \cdot k_j}{\sqrt{d_k}}", "(q_i · k_j) / √d_k"),
        (r"c_i = \sum_{j} a_{ij} v_j", "c_i = ∑_j a_ij v_j"),
        (r"Y = \text{softmax}\left(Q K^\top\right) V", "Y = softmax(Q Kᵀ)V"),
        (r"[-1, 2.5]", "[-1, 2.5]"),
        (r"\tilde{h}_t = 10^{2m/d}", "h~_t = 10^{2m/d}"),
    ],
)
def test_as_text(latex: str, text: str) -> None:
    assert plain_formula(latex) == text


def test_as_mathml() -> None:
    made = ET.fromstring(mathml(r"\frac{x_i}{\sqrt{d}} < \sum_{j} \text{a b}", display=True))
    assert made.attrib == {"display": "block", "aria-label": "x_i / √d<∑_j a b"}
    assert [part.tag for part in made[0]] == ["mfrac", "mo", "munder", "mtext"]
    assert [part.tag for part in made[0][0]] == ["mrow", "mrow"] or made[0][0][0].tag == "mrow"
    assert "".join(made.itertext()) == "xid<∑ja b"


@pytest.mark.parametrize(
    ("latex", "said"),
    [
        (r"\unheard", r"has \\unheard, which is not known"),
        (r"\frac{1}", "ends where something must follow"),
        (r"{x", "no closing"),
        (r"\text{x", "a { without its }"),
        (r"\text x", "must be followed by"),
        (" ", "a formula is empty"),
    ],
)
def test_what_is_not_whole_is_refused(latex: str, said: str) -> None:
    with pytest.raises(RegardError, match=said):
        mathml(latex)
