"""Captions: what must be said of an explained head in words: how it was chosen, what is proved."""

from __future__ import annotations

from regard.inside.explain.explained import Explained, place_of
from regard.inside.explain.link import HeadLink, name_of
from regard.pieces.pieces import Pieces
from regard.pieces.whole import LABEL, NEXT
from regard.text import Word, aligned, number_of, quoted

MOST_SAID = 3
"""Words that are named where two sentences are compared."""

EACH = "The likeliest next word after each token that the decoder has read."


def format_place(explained: Explained) -> str:
    """``minilm, layer 5, head 11 (6 layers of 12 heads, counted from 0)``."""
    layers, heads = explained.shape
    where = place_of(explained.model, explained.part)
    if explained.recurrent:
        layer = "" if layers == 1 else f", layer {explained.layer} of {layers}, counted from 0"
        if any(step.scope.startswith("layer 0") for step in explained.trace):
            layer = f", all {layers} layers"
        return f"{where}{layer}, step {explained.token + 1} (recurrent)"
    return (
        f"{where}, layer {explained.layer}, head {explained.head} "
        f"({number_of(layers, 'layer')} of {number_of(heads, 'head')}, counted from 0)"
    )


def format_question(explained: Explained) -> str:
    """What the steps answer; of a token that occurs twice, also which is meant."""
    tokens, place, word = explained.reading.labels, explained.token, explained.word
    where = f" at position {place}" if tokens.count(tokens[place]) > 1 else ""
    count = word.stop - word.start
    of = f" (of the {count} tokens of {quoted(word.text)} the one that gives most)"
    if explained.recurrent:
        verb, tape = ("writing", "source") if explained.crosses else ("reading", "tape")
        asked = f"What does {verb} {quoted(tokens[place])}{where} take from the {tape}"
        ends = {NEXT: ", and which word comes next?", LABEL: ", and which label is said?"}
        if explained.crosses:
            ends[NEXT] = ", and what is written?"
        return asked + ("?" if explained.predicted is None else ends[explained.predicted.kind])
    asked = f"What does {quoted(tokens[place])}{where}{of * (count > 1)} take from each token"
    return f"{asked} of the source?" if explained.crosses else f"{asked}?"


def format_decoding(explained: Explained) -> str:
    """What a row of a decoder's attention stands for; empty of any other."""
    if explained.source is None:
        return ""
    labels, place = explained.reading.labels, explained.token
    token = quoted(labels[place])
    if explained.recurrent:
        read = quoted(labels[place - 1]) if place else "nothing yet"
        return f"The decoder has read {read}, and writes {token} from what it takes here."
    return f"The decoder has read {token}, and says the next word from what it takes here."


def format_choice(explained: Explained) -> str:
    """How the head was found, or which it is if it was given."""
    reading, share = explained.reading, f"{explained.share:.3f}"
    word, to = _named(reading, explained.word, "mean"), _named(explained.keys, explained.to, "sum")
    choice = explained.choice
    if choice is None:
        return f"As asked. It gives {share} of the attention of {word} to {to}."
    others = "; ".join(
        f"{_place(o)} {quoted(name_of(explained.keys, o.to))} {o.weight:.3f}" for o in choice.others
    )
    following = f" Next: {others}." if others else ""
    asked = choice.among == quoted(name_of(explained.keys, explained.to))
    among = to if asked else f"{choice.among}, {to}"
    kind = "layers" if explained.recurrent else "heads"
    of = f"of {choice.heads} {kind} the one with the" if choice.heads > 1 else "the"
    return f"Chosen: {of} largest weight from {word} to {among}: {share}.{following}"


def format_change(first: Explained, second: Explained) -> str:
    """What became of the link, in the other sentence."""
    reading, other = first.keys, second.keys
    word, to = _named(first.reading, first.word, "mean"), _named(reading, first.to, "sum")
    before = f"{word} gives {to} {first.share:.3f} in the first sentence"
    places = dict(aligned(reading.labels, other.labels))
    wanted = range(first.to.start, first.to.stop)
    there = [j for i in wanted if (j := places.get(i)) is not None]
    if [other.labels[j] for j in there] != [reading.labels[i] for i in wanted]:
        return f"{before}; the second has no such token there."
    rows = second.matrix[second.word.start : second.word.stop]
    return f"{before} and {rows[:, there].sum(-1).mean():.3f} in the second."


def format_predicted(*explained: Explained) -> list[str]:
    """What is predicted in each sentence, a line for each; nothing where nothing is."""
    lines = []
    for name, one in zip(("first", "second"), explained, strict=False):
        if one.predicted is not None:
            some = one.predicted.predictions[:MOST_SAID]
            said = ", ".join(f"{quoted(word.word)} {word.probability:.3f}" for word in some)
            lines.append(f"The {one.predicted.kind} in the {name} sentence: {said}.")
    return lines


def format_proof(*explained: Explained) -> str:
    """The largest difference from the model's own forward pass."""
    numbers = sum(e.proof.numbers for e in explained)
    difference = max(e.proof.difference for e in explained)
    return (
        f"Proof: {explained[0].proof.what}: {numbers:,} numbers, largest difference "
        f"{difference:.1e}."
    )


def format_limits(explained: Explained) -> str:
    """What one example does not prove."""
    layers, heads = explained.shape
    many = (
        f"With {layers * heads} heads to pick from, many pairs of words find a head with a large "
        "weight, and a"
    )
    return (
        f"One example proves nothing about language. {'A' if explained.recurrent else many} weight "
        "does not show what the model's output depends on. Try other sentences; --compare puts two "
        "side by side."
    )


def _named(reading: Pieces, word: Word, how: str) -> str:
    """``'it'``, or ``"didn't" (3 tokens, their mean)``."""
    count = word.stop - word.start
    return quoted(name_of(reading, word)) + f" ({count} tokens, their {how})" * (count > 1)


def _place(link: HeadLink) -> str:
    return f"layer {link.layer} head {link.head}"
