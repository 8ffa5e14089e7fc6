"""Training word vectors with Word2Vec (Mikolov et al. 2013), by Gensim, and saying what it did.

CBOW predicts a word from the average of its neighbours; skip-gram predicts each neighbour from the
word. Both draw ``negative`` wrong words for each right one. A word of frequency f (its share of
the text) is skipped with probability 1 − (sqrt(f/sample) + 1)·sample/f, which thins out "the" in a
large text, and in a text of a dozen words nearly everything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import MissingExtraError, RegardError, nearest
from regard.vectors.corpus import FileCorpus, ListCorpus, WordCorpus
from regard.vectors.file import ReadProgress
from regard.vectors.words import Words

ALGORITHMS = ("cbow", "skipgram")
STILL = 0.05  # vectors that moved by less than this share of their length are called untrained


@dataclass(frozen=True)
class Training:
    """The vectors, and the counts from which ``verdict`` tells whether they learnt anything.

    ``offered`` words of the text, over all epochs, are in the vocabulary; ``trained`` of them were
    not skipped. ``moved`` is |after − before| / |before| for each word, shape (words,).
    """

    words: Words
    settings: dict[str, Any]
    sentences: int
    text_words: int
    kept_words: int
    cut_lines: int
    offered: int
    trained: int
    moved: NDArray[np.float64]

    @property
    def median_moved(self) -> float:
        return float(np.median(self.moved))

    @property
    def untrained(self) -> bool:
        return self.median_moved < STILL

    def to_json(self) -> dict[str, Any]:
        """The settings and the counts, for other programs."""
        return {
            "settings": self.settings,
            "sentences": self.sentences,
            "text_words": self.text_words,
            "kept_words": self.kept_words,
            "vocabulary": len(self.words),
            "offered": self.offered,
            "trained": self.trained,
            "median_moved": self.median_moved,
            "untrained": self.untrained,
            "verdict": self.verdict,
        }

    @property
    def verdict(self) -> str:
        """One paragraph: how far the vectors moved; if hardly, why, and what to do."""
        middle, most = self.median_moved, float(self.moved.max())
        if not self.untrained:
            return (
                "The vectors left their random start: in the middle (median) they moved by "
                f"{middle:.2g} times their starting length, at most by {most:.2g} times."
            )
        still = int((self.moved == 0).sum())
        text = (
            "These are untrained vectors, nearly as they were drawn at random before training: "
            f"{still:,} of {len(self.words):,} did not change at all; in the middle (median) they "
            f"moved by {100 * middle:.2g}% of their length, at most by {100 * most:.2g}%. "
        )
        skipped = self.offered - self.trained
        if 2 * skipped > self.offered:
            return text + (
                f"The reason is sample={self.settings['sample']:g}, which skips frequent words: it "
                f"skipped {skipped:,} of {self.offered:,}, as in so small a text every word is "
                "frequent. Train with --sample 0, and more epochs: --sample 0 --epochs 500."
            )
        return text + (
            f"The reason is the little text: {self.trained:,} words over "
            f"{self.settings['epochs']} epochs. Give more text or more epochs (--epochs 500)."
        )


def train(
    source: str | os.PathLike[str] | Iterable[Sequence[str]],
    *,
    width: int = 100,
    window: int = 5,
    min_count: int = 5,
    algorithm: str = "cbow",
    seed: int = 1,
    epochs: int = 5,
    sample: float = 1e-3,
    negative: int = 5,
    workers: int = 1,
    lower: bool = True,
    spaces: bool = False,
    encoding: str = "utf-8",
    progress: ReadProgress | None = None,
) -> Training:
    """Train on a text file, one sentence a line, or on sentences that are lists of words.

    A file is read as a stream, 1 + ``epochs`` times; its lines are lower-cased (unless ``lower``
    is false) and cut by ``tokenise``, or at white space only with ``spaces``. Lists of words are
    taken as they are. With ``workers=1`` the same seed gives the same vectors.
    """
    settings = {
        "algorithm": algorithm,
        "width": width,
        "window": window,
        "min_count": min_count,
        "seed": seed,
        "epochs": epochs,
        "sample": sample,
        "negative": negative,
        "workers": workers,
    }
    check(settings)
    if isinstance(source, str | os.PathLike):
        corpus: WordCorpus = FileCorpus(source, lower, spaces, encoding, epochs + 1, progress)
    else:
        corpus = ListCorpus(source, epochs + 1, progress)
    model = build(corpus, settings)
    before = model.wv.vectors.copy()
    trained, _ = model.train(corpus, total_examples=model.corpus_count, epochs=epochs)
    corpus.raise_failure()
    after: NDArray[np.float32] = model.wv.vectors
    kept = sum(int(model.wv.get_vecattr(word, "count")) for word in model.wv.index_to_key)
    return Training(
        words=Words(model.wv.index_to_key, after),
        settings=settings,
        sentences=corpus.sentences,
        text_words=int(model.corpus_total_words),
        kept_words=kept,
        cut_lines=corpus.cut_lines,
        offered=epochs * kept,
        trained=int(trained),
        moved=np.linalg.norm(after - before, axis=1) / np.linalg.norm(before, axis=1),
    )


def build(corpus: WordCorpus, settings: dict[str, Any]) -> Any:
    """A Gensim model with its vocabulary and its starting vectors."""
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise MissingExtraError("training word vectors", "gensim") from error
    model = Word2Vec(
        vector_size=settings["width"],
        window=settings["window"],
        min_count=settings["min_count"],
        sg=int(settings["algorithm"] == "skipgram"),
        seed=settings["seed"],
        sample=settings["sample"],
        negative=settings["negative"],
        workers=settings["workers"],
        epochs=settings["epochs"],
    )
    model.build_vocab(corpus)
    corpus.raise_failure()
    if not model.corpus_total_words:
        raise RegardError(f"{corpus.name} holds no words; one sentence a line is expected")
    if not len(model.wv):
        what = f"no word of {corpus.name} occurs at least min_count={settings['min_count']} times"
        raise RegardError(f"{what}; lower it (--min-count 1) or give more text")
    return model


def check(settings: dict[str, Any]) -> None:
    """All that is wrong with the settings, at once."""
    wrong = []
    if settings["algorithm"] not in ALGORITHMS:
        near = nearest(str(settings["algorithm"]), ALGORITHMS)
        wrong.append(f"algorithm must be cbow or skipgram, got {settings['algorithm']!r}{near}")
    for name in ("width", "window", "min_count", "epochs", "negative", "workers"):
        if settings[name] < 1:
            wrong.append(f"{name} must be at least 1, got {settings[name]}")
    if not 0 <= settings["sample"] <= 1:  # NaN too
        wrong.append(f"sample must lie between 0 (skip nothing) and 1, got {settings['sample']}")
    if not 0 <= settings["seed"] < 2**32:
        wrong.append(f"seed must lie between 0 and 2**32 - 1, got {settings['seed']}")
    if wrong:
        raise RegardError("; ".join(wrong))
