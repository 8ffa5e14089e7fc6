"""Metrics: BLEU and chrF by sacreBLEU, with the signature that makes a figure comparable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from regard.errors import DataError, MissingExtraError


@dataclass(frozen=True)
class Score:
    """A figure and what exactly was computed."""

    name: str
    value: float
    """From 0 to 100."""
    signature: str
    """sacreBLEU's own: tokenisation, case, smoothing, version."""

    def __str__(self) -> str:
        return f"{self.name} {self.value:.1f} ({self.signature})"


@dataclass(frozen=True)
class Bucket:
    """The scores of the sentences whose source has from ``least`` to ``most`` words."""

    least: int
    most: int | None
    """None = no upper end."""
    sentences: int
    bleu: float
    chrf: float


def bleu(translations: Sequence[str], references: Sequence[str]) -> Score:
    """Corpus BLEU (Papineni et al. 2002; Post 2018), one reference a sentence."""
    return _score("BLEU", translations, references)


def chrf(translations: Sequence[str], references: Sequence[str]) -> Score:
    """Corpus chrF2: character n-grams up to 6, recall weighted twice (Popović 2015)."""
    return _score("CHRF", translations, references)


def by_length(
    sources: Sequence[str],
    translations: Sequence[str],
    references: Sequence[str],
    edges: Sequence[int] = (5, 10, 15, 20, 30),
) -> list[Bucket]:
    """Scores by the number of words in the source: up to 5, 6 to 10, …; empty ones left out."""
    _check(sources, references)
    rows = list(zip(sources, translations, references, strict=True))
    buckets: list[Bucket] = []
    for least, most in zip((1, *(e + 1 for e in edges)), (*edges, None), strict=True):
        inside = [r for r in rows if least <= len(r[0].split()) <= (most or len(r[0]))]
        if inside:
            _, ours, theirs = zip(*inside, strict=True)
            scores = bleu(ours, theirs).value, chrf(ours, theirs).value
            buckets.append(Bucket(least, most, len(inside), *scores))
    return buckets


def _score(name: str, translations: Sequence[str], references: Sequence[str]) -> Score:
    try:
        import sacrebleu
    except ImportError as error:
        raise MissingExtraError("BLEU", "sacrebleu") from error
    _check(translations, references)
    metric = getattr(sacrebleu, name)()
    result = metric.corpus_score(list(translations), [list(references)])
    return Score(result.name, float(result.score), str(metric.get_signature()))


def _check(one: Sequence[str], other: Sequence[str]) -> None:
    if len(one) != len(other) or not one:
        raise DataError(
            "a score needs as many translations as references, at least one; "
            f"got {len(one)} and {len(other)}"
        )
