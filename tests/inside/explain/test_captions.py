"""What is said of a head, in words."""

from __future__ import annotations

from regard.inside.explain import captions
from regard.inside.explain.computed import ComputedModel
from tests.inside.explain.sentence import SENTENCE


def test_what_is_said(real: ComputedModel) -> None:
    tired = real.explain(SENTENCE, "it")
    wide = real.explain(SENTENCE.replace("tired", "wide"), "it", layer=3, head=1)
    same = real.explain(SENTENCE, "it", layer=3, head=1)
    assert captions.format_place(tired) == (
        "minilm, layer 5, head 11 (6 layers of 12 heads, counted from 0)"
    )
    assert captions.format_choice(tired) == (
        "Chosen: of 72 heads the one with the largest weight from 'it' to an earlier content word, "
        "'animal': 0.647. Next: layer 3 head 1 'animal' 0.640; layer 5 head 3 'animal' 0.250."
    )
    assert captions.format_question(tired) == "What does 'it' take from each token?"
    second = real.explain(SENTENCE, "the#2")
    assert captions.format_question(second) == "What does 'the' at position 7 take from each token?"
    assert captions.format_choice(same) == (
        "As asked. It gives 0.640 of the attention of 'it' to 'animal'."
    )
    assert captions.format_change(same, wide) == (
        "'it' gives 'animal' 0.640 in the first sentence and 0.266 in the second."
    )
    named = real.explain(SENTENCE, "it", "street", layer=3)
    assert captions.format_choice(named).startswith(
        "Chosen: of 12 heads the one with the largest weight from 'it' to 'street': 0."
    )
    other = real.explain("It was late", "it", layer=3, head=1)
    assert captions.format_change(same, other).endswith("; the second has no such token there.")
    assert "72 heads" in captions.format_limits(tired)
    total = tired.proof.numbers + other.proof.numbers
    assert f"{total:,} numbers, largest difference " in captions.format_proof(tired, other)
