"""Told: what must be said about an explained head in words: how it was chosen, what is proved."""

from __future__ import annotations

from regard.inside.explain.link import HeadLink
from regard.inside.explain.model import Explained
from regard.text import aligned, visible


def format_place(explained: Explained) -> str:
    """``minilm, layer 5, head 11 (6 layers of 12 heads, counted from 0)``."""
    layers, heads = explained.shape
    return (
        f"{explained.model}, layer {explained.layer}, head {explained.head} "
        f"({layers} layers of {heads} heads, counted from 0)"
    )


def format_question(explained: Explained) -> str:
    """What the steps answer; of a token that occurs twice, also which is meant."""
    tokens, place = explained.reading.tokens, explained.word
    where = f" at position {place}" if tokens.count(tokens[place]) > 1 else ""
    return f"What does {visible(tokens[place])!r}{where} take from each token?"


def format_choice(explained: Explained) -> str:
    """How the head was found, or which it is if it was given."""
    word, to = (repr(explained.reading.tokens[i]) for i in (explained.word, explained.to))
    share = f"{explained.weights[explained.to]:.3f}"
    choice = explained.choice
    if choice is None:
        return f"As asked. It gives {share} of the attention of {word} to {to}."
    others = "; ".join(f"{_place(o)} {_token(explained, o)} {o.weight:.3f}" for o in choice.others)
    following = f" Next: {others}." if others else ""
    to = "" if choice.among == to else f", {to}"
    return (
        f"Chosen: of {choice.heads} heads the one with the largest weight from {word} to "
        f"{choice.among}{to}: {share}.{following}"
    )


def format_change(first: Explained, second: Explained) -> str:
    """What became of the link, in the other sentence."""
    word, to = (repr(first.reading.tokens[i]) for i in (first.word, first.to))
    before = f"{word} gives {to} {first.weights[first.to]:.3f} in the first sentence"
    places = dict(aligned(first.reading.tokens, second.reading.tokens))
    place = places.get(first.to)
    if place is None or second.reading.tokens[place] != first.reading.tokens[first.to]:
        return f"{before}; the second has no such token there."
    return f"{before} and {second.weights[place]:.3f} in the second."


def format_proof(*explained: Explained) -> str:
    """The largest difference from the model's own forward pass."""
    numbers = sum(e.proof.numbers for e in explained)
    difference = max(e.proof.difference for e in explained)
    return (
        "Proof: the model's own forward pass (float32, fused attention, nothing recorded) gives "
        f"the same queries, keys, weights and outputs: {numbers:,} numbers, largest difference "
        f"{difference:.1e}."
    )


def format_limits(explained: Explained) -> str:
    """What one example does not prove."""
    layers, heads = explained.shape
    return (
        f"One example proves nothing about language. With {layers * heads} heads to pick from, "
        "many pairs of words find a head with a large weight, and a weight does not show what the "
        "model's output depends on. Try other sentences; --compare puts two side by side."
    )


def _place(link: HeadLink) -> str:
    return f"layer {link.layer} head {link.head}"


def _token(explained: Explained, link: HeadLink) -> str:
    return repr(explained.reading.tokens[link.to])
