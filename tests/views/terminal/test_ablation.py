"""Effects on the terminal."""

from __future__ import annotations

from dataclasses import replace

from regard.pieces.ablation import Baseline, Effect, EstimatedEffects
from regard.text import Word
from regard.views.terminal.ablation import name, print_ablation, print_importance, verdict
from tests.pieces.test_ablation import made
from tests.pieces.test_importance import made as importance
from tests.views.terminal.consoles import console, printed


def test_the_table_and_what_it_says() -> None:
    to = console()
    found = replace(made(), baseline=Baseline("1 head", [0.1, 0.3]), said=["heads removed"])
    print_ablation(found, to, shown=2)
    lines = [line.rstrip() for line in printed(to).splitlines()]
    assert lines[0] == "m: probability of 'tired', unchanged 0.5000"
    assert lines[1] == "heads removed"
    assert lines[4].split()[:4] == ["everywhere", "-", "0.4500", "-0.0500"]
    assert lines[6] == "… 1 more (--top, --json)"
    assert "Here the weight does not say what matters." in " ".join(lines)
    assert "taking away 1 head changes it by +0.2000 (spread 0.1000, 2 draws)" in " ".join(lines)


def test_what_the_correlation_says() -> None:
    says = [verdict(replace(made(), correlation=c))[0] for c in (0.9, 0.5, -0.1, -0.6)]
    assert [
        next(w for w in ("much", "something", "does not", "matter less") if w in line)
        for line in says
    ] == ["much", "something", "does not", "matter less"]


def test_estimates_beside_what_was_measured() -> None:
    to = console()
    guesses = [Effect(0, 1, 0.3, -0.2), Effect(4, 4, 0.5, 0.01)]
    print_ablation(replace(made(), estimate=EstimatedEffects(guesses, 3, 0.5)), to, shown=5)
    text = printed(to)
    assert "L0H1" in text
    assert "-0.2000   -0.1000" in text
    assert "estimate and measured change over 3 heads: +0.50" in text


def test_long_translations_leave_the_numbers_whole() -> None:
    """At 80 columns the texts stand below the numbers, in lines of their own."""
    to = console(width=80)
    said = "The dog is sleeping on the old sofa because he is tired of it all."
    effects = [replace(e, text=said, kl=0.5) for e in made().effects]
    print_ablation(replace(made(), effects=effects), to, shown=3)
    text = printed(to)
    assert "…" not in text
    for effect in effects:
        assert f"{effect.value:.4f}" in text
        assert f"{effect.change:+.4f}" in text
    assert text.count("The dog") == text.count("all.") == 3
    assert text.index("L0H1") < text.index("then it writes") < text.index("The dog")
    assert text.count("The dog is sleeping on the old sofa because he is") == 3, "not squeezed"
    wide = console(width=200)
    print_ablation(replace(made(), effects=effects), wide, shown=3)
    assert f"0.5000  {said}" in printed(wide), "beside the numbers, where there is room"


def test_names() -> None:
    it, animal = Word("it", 3, 4), Word("animal", 1, 2)
    assert name(Effect(3, 1, 0, 0)) == "L3H1"
    assert name(Effect(3, None, 0, 0, heads=12)) == "layer 3"
    assert name(Effect(None, None, 0, 0, heads=5)) == "5 heads"
    assert name(Effect(3, 1, 0, 0, part="cross", query=it, key=animal)) == (
        "it → animal in cross L3H1"
    )
    assert name(Effect(None, None, 0, 0, heads=0, key=animal)) == "animal everywhere"


def test_importance() -> None:
    to = console()
    print_importance(importance(), to, shown=2)
    lines = [line.rstrip() for line in printed(to).splitlines()]
    assert lines[0].startswith("m: 3 heads, 3 texts, 21 tokens; change of probability")
    assert [line.split()[:2] for line in lines[3:5]] == [["L0H1", "0.30000"], ["L0H0", "0.10000"]]
