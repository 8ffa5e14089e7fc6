"""Markdown as HTML."""

from __future__ import annotations

from regard.views.page.prose import prose_html


def test_formulas_tables_and_emphasis() -> None:
    made = prose_html(
        "A *b* and $x_i$ and `$y$`.\n\n$$x = 1$$\n\n| a | b |\n|---|---|\n| $z$ | 2 |\n"
    )
    assert "<em>b</em>" in made
    assert made.count("<math") == 3
    assert made.count('display="block"') == 1
    assert "<code>$y$</code>" in made
    assert '<div class="wide"><table>' in made


def test_an_underscore_in_a_formula_is_no_emphasis() -> None:
    assert "<em>" not in prose_html("$a_i$ then $b_j * c_k$ and *")


def test_html_is_text() -> None:
    made = prose_html('<script>alert(1)</script> [x](javascript:alert(1)) <img src="y">')
    assert "<script" not in made
    assert "<img" not in made
    assert 'href="javascript' not in made


def test_blocks_keep_their_dollars() -> None:
    assert "$a$" in prose_html("```toml\nx = '$a$'\n```\n")
