"""Link: which head of a model connects a word with another, when nobody has said which to show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from regard.pieces.pieces import Pieces
from regard.text import Word, quoted
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
    """What one head gives from one word to another."""

    layer: int
    head: int
    word: Word
    to: Word
    weight: float
    """From a word of several tokens their mean, to one their sum."""


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


def is_content(token: str, silent: bool) -> bool:
    """Whether a token stands for a thing, an action or a quality; one that the model cannot read
    (``silent``) stands for nothing."""
    word = token.lower().lstrip("▁")
    return (
        not silent
        and not word.startswith("##")
        and any(sign.isalpha() for sign in word)
        and word not in FUNCTION_WORDS
    )


def choose(
    weights: Array,
    pieces: Pieces,
    keys: Pieces | None = None,
    *,
    word: Word | None = None,
    to: Word | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> Choice:
    """The strongest link in ``weights`` (layers, heads, n, m) between the words, where given.

    The ``pieces`` attend to themselves, or to other ``keys``. Without ``to`` a link leads to an
    earlier content word if there is one (words refer back), else to any other content word, else to
    any other word; never to what the model cannot read.
    """
    seen = pieces if keys is None else keys
    layers = range(weights.shape[0]) if layer is None else [layer]
    heads = range(weights.shape[1]) if head is None else [head]
    known = [token for token in _tokens(pieces) if not pieces.silent[token.start]]
    rows, columns = ([word] if word else known), ([to] if to else _tokens(seen))
    if to is not None:
        among, allowed = quoted(name_of(seen, to)), np.ones((len(rows), 1), dtype=bool)
    elif keys is None:
        among, allowed = next(_targets(pieces, rows))
    else:
        among, allowed = next(_sources(keys, len(rows)))
    links = []
    for k in layers:
        for h in heads:
            shares = np.where(allowed, _between(weights[k, h], rows, columns), -1.0)
            i, j = np.unravel_index(int(shares.argmax()), shares.shape)
            links.append(HeadLink(k, h, rows[i], columns[j], float(shares[i, j])))
    links.sort(key=lambda link: -link.weight)
    return Choice(links[0], links[1:3], among, len(links))


def _between(weights: Array, rows: Sequence[Word], columns: Sequence[Word]) -> Array:
    """(rows, columns): what each word gives each other; of several words, all are of one token."""
    if len(rows) == 1:
        weights = weights[rows[0].start : rows[0].stop].mean(0, keepdims=True)
    else:
        weights = weights[[row.start for row in rows]]
    if len(columns) == 1:
        weights = weights[:, columns[0].start : columns[0].stop].sum(1, keepdims=True)
    return weights


def _targets(pieces: Pieces, rows: Sequence[Word]) -> Iterator[tuple[str, Array]]:
    """What a link may lead to, (rows, n), the best rule first; each with its name."""
    silent, content = pieces.silent, _contents(pieces)
    starts, stops = np.array([(row.start, row.stop) for row in rows]).T[..., None]
    columns = np.arange(len(pieces))[None]
    other = (columns < starts) | (columns >= stops)
    for name, allowed in (
        ("an earlier content word", content & (columns < starts)),
        ("another content word", content & other),
        ("another word", ~np.array(silent) & other),
        ("any token", np.broadcast_to(~np.array(pieces.unknown), other.shape)),
    ):
        if allowed.any():
            yield name, allowed


def _sources(keys: Pieces, rows: int) -> Iterator[tuple[str, Array]]:
    """The same in another text, in which no word is earlier and none is the word itself."""
    for name, allowed in (
        ("a content word of the source", _contents(keys)),
        ("a word of the source", ~np.array(keys.silent)),
        ("any token of the source", np.ones(len(keys), dtype=bool)),
    ):
        if allowed.any():
            yield name, np.broadcast_to(allowed, (rows, len(keys)))


def _tokens(pieces: Pieces) -> list[Word]:
    return [Word(label, i, i + 1) for i, label in enumerate(pieces.labels)]


def _contents(pieces: Pieces) -> Array:
    pairs = zip(pieces.labels, pieces.silent, strict=True)
    return np.array([is_content(*pair) for pair in pairs])


def name_of(pieces: Pieces, word: Word) -> str:
    """A token as the model reads it, a word of several as it was written."""
    return pieces.labels[word.start] if word.stop - word.start == 1 else word.text
