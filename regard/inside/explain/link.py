"""Link: which head of a model connects a word with another, when nobody has said which to show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from regard.trace import Array

# Articles, determiners, quantifiers; pronouns and question words; be, have, do, auxiliaries and
# what the tokenizer leaves of them (didn ' t); prepositions and particles; conjunctions, adverbs
# of degree and of the discourse.
_WORDS = """
a an the this that these those each every either neither some any no none all both half few many
much more most other another such own same several
i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it
its itself we us our ours ourselves they them their theirs themselves one who whom whose which what
whoever whatever where when why how
am is are was were be been being have has had having do does did doing can could may might must
shall should will would ought cannot didn don doesn isn aren wasn weren won wouldn couldn shouldn
hasn haven hadn t s d m ll re ve not
about above across after against along among around at before behind below beneath beside between
beyond by down during except for from in inside into near of off on onto out outside over past since
through throughout till to toward towards under until up upon with within without
and but or nor so yet because although though while whereas if unless whether than as too very just
only also even then there here again ever never
"""
FUNCTION_WORDS = frozenset(_WORDS.split())
"""English words that hold a sentence together; what is left are its content words."""


@dataclass(frozen=True)
class HeadLink:
    """What one head gives from one token to another."""

    layer: int
    head: int
    word: int
    to: int
    weight: float


@dataclass(frozen=True)
class Choice:
    """The strongest link, and what it was chosen from."""

    best: HeadLink
    others: list[HeadLink]
    """The strongest of other heads, in order."""
    among: str
    """What the link had to lead to, such as ``an earlier content word``."""
    heads: int
    """How many heads were compared."""


def is_content(token: str, special: bool) -> bool:
    """Whether a token stands for a thing, an action or a quality."""
    word = token.lower()
    return (
        not special
        and not word.startswith("##")
        and any(sign.isalpha() for sign in word)
        and word not in FUNCTION_WORDS
    )


def choose(
    weights: Array,
    tokens: Sequence[str],
    special: Sequence[bool],
    *,
    word: int | None = None,
    to: int | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> Choice:
    """The strongest link in ``weights`` (layers, heads, n, n) between the words, where given.

    Without ``to`` it leads to an earlier content word if there is one (words refer back), else to
    any other content word, else to any other word; never to a special token.
    """
    layers = range(weights.shape[0]) if layer is None else [layer]
    heads = range(weights.shape[1]) if head is None else [head]
    words = [i for i, mark in enumerate(special) if not mark] if word is None else [word]
    among, allowed = next(_targets(tokens, special, words, to))
    links = []
    for row in layers:
        for column in heads:
            shares = np.where(allowed, weights[row, column][words], -1.0)
            i, j = np.unravel_index(int(shares.argmax()), shares.shape)
            links.append(HeadLink(row, column, words[i], int(j), float(shares[i, j])))
    links.sort(key=lambda link: -link.weight)
    return Choice(links[0], links[1:3], among, len(links))


def _targets(
    tokens: Sequence[str], special: Sequence[bool], words: list[int], to: int | None
) -> Iterator[tuple[str, Array]]:
    """What a link may lead to, (words, n), the best rule first; each with its name."""
    n = len(tokens)
    if to is not None:
        yield repr(tokens[to]), np.arange(n)[None] == to
    content = np.array([is_content(*pair) for pair in zip(tokens, special, strict=True)])
    real = ~np.array(special)
    rows, columns = np.array(words)[:, None], np.arange(n)[None]
    for name, allowed in (
        ("an earlier content word", content & (columns < rows)),
        ("another content word", content & (columns != rows)),
        ("another word", real & (columns != rows)),
        ("any token", np.ones((len(words), n), dtype=bool)),
    ):
        if allowed.any():
            yield name, allowed
