"""ablate(): what changes in a model's output if this is taken away, and did its weight tell so?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from regard.errors import RegardError
from regard.inside.ablate.engine import MEMORY, Engine, engine
from regard.inside.ablate.estimate import estimated
from regard.inside.ablate.measure import Measured, rank_correlation
from regard.inside.ablate.trial import AblationTrial, TranslatorTrial
from regard.inside.ablate.variant import HeadAt, Variant, random_others
from regard.inside.ablate.weights import WordWeights, content_words
from regard.pieces.ablation import Ablation, Baseline, Effect, EstimatedEffects
from regard.text import Word

Progress = Callable[[int, int], None]
EACH = ("heads", "layers", "words", "links")
DRAWS = 20
"""Draws of the random baseline."""
SAMPLE = 32
"""Heads that are measured to judge an estimate."""


@dataclass(frozen=True)
class AblationRequest:
    """What is to be taken away, and how it is measured."""

    heads: tuple[tuple[int, int], ...] = ()
    """(layer, head): these, together."""
    layer: int | None = None
    link: tuple[str, str] | None = None
    word: str | None = None
    each: str | None = None
    """One of :data:`EACH`: everything of a kind in turn."""
    part: str | None = None
    metric: str | None = None
    by: str = "zero"
    """What stands for a removed head's output: zeros, or its mean over the text's positions."""
    renormalise: bool = True
    estimate: bool = False
    memory: int = MEMORY
    seed: int = 1

    @property
    def kind(self) -> str:
        """What is taken away in turn."""
        if self.link is not None or self.each == "links":
            return "link"
        if self.word is not None or self.each == "words":
            return "word"
        return "layer" if self.each == "layers" else "head"


def ablate(
    trial: AblationTrial, request: AblationRequest, progress: Progress | None = None
) -> Ablation:
    """Take away what was asked for, one thing at a time, and measure the output each time."""
    metric = request.metric or trial.metrics[0]
    if metric not in trial.metrics:
        raise RegardError(
            f"of {trial.title} {' or '.join(trial.metrics)} can be measured, got {metric!r}"
        )
    if not trial.has_heads and (request.link, request.word) == (None, None):
        if request.heads or request.layer is not None or request.each not in (None, "words"):
            raise RegardError(
                f"{trial.title} is recurrent and has no heads: take words away, --word or --each "
                "words"
            )
        request = replace(request, each="words")
    guess = estimated(trial, metric) if request.estimate else None
    with engine(trial, request.memory) as running:
        asked = Asked(trial, request, running.heads)
        variants = asked.variants()
        measured = trial.measured(running.base, metric)
        weights = WordWeights(trial)
        everything = variants
        variants = variants if guess is None else asked.sample(variants)
        effects = _measure(running, measured, variants, progress)
        effects = [
            replace(effect, weight=weights.of(variant, asked.word))
            for effect, variant in zip(effects, variants, strict=True)
        ]
        baseline = asked.baseline(running, measured, variants, effects)
        texts = _translations(running, trial, variants, effects)
    estimate = None if guess is None else _estimate(trial, guess, everything, variants, effects)
    single = [e for e in effects if e.head is not None or request.each == "words"]
    pairs = [(e.weight, abs(e.change)) for e in single if e.weight is not None]
    correlation = rank_correlation([w for w, _ in pairs], [c for _, c in pairs])
    found = Ablation(
        trial.title,
        trial.pieces.text,
        metric,
        trial.target or None,
        measured.base,
        effects,
        correlation,
        baseline,
        estimate,
        request.kind,
        [_told(request, len(effects))],
    )
    return found.with_texts(texts) if texts else found


def _told(request: AblationRequest, count: int) -> str:
    """What was done, in a sentence."""
    others = "the others grow" if request.renormalise else "the others stay as they are"
    if request.kind in ("link", "word"):
        return f"masked: the weight becomes 0, {others} in each row"
    stands = "zeros" if request.by == "zero" else "its mean over the text"
    one = "heads removed one at a time" if count > 1 else "removed"
    return f"{one}: {stands} in place of what a head puts out"


class Asked:
    """The variants that a request means, of a trial with these heads."""

    def __init__(self, trial: AblationTrial, request: AblationRequest, heads: list[HeadAt]) -> None:
        self.trial, self.request = trial, request
        self.parts = (request.part,) if request.part else trial.parts
        if request.part and request.part not in trial.parts:
            raise RegardError(
                f"{trial.title} has the attention {', '.join(trial.parts)}, got --part "
                f"{request.part}"
            )
        self.heads = [h for h in heads if h.part in self.parts] if trial.has_heads else []
        self.word = None if request.word is None else trial.pieces.word(request.word)[0]
        self.masking: dict[str, Any] = {"renormalise": request.renormalise}

    def variants(self) -> list[Variant]:
        """In the order in which they are to be told."""
        request = self.request
        if request.link is not None:
            part = "cross" if "cross" in self.parts else self.parts[0]
            query, key = (
                self._side(part, queries).word(name)[0]
                for name, queries in zip(request.link, (True, False), strict=True)
            )
            return self._masked((part,), query, key)
        if request.each == "links":
            return self._links()
        if self.word is not None:
            return self._masked(self._reading, None, self.word)
        if request.each == "words":
            return self._words()
        if request.each == "layers":
            return self._layers()
        return self._removed(self._chosen())

    @property
    def _reading(self) -> tuple[str, ...]:
        """The attention that looks at what is read."""
        return tuple(part for part in self.parts if part != "decoder")

    def _side(self, part: str, queries: bool) -> Any:
        own = part == "decoder" or (part == "cross" and queries)
        return self.trial.written if own else self.trial.pieces

    def _chosen(self) -> list[HeadAt]:
        """The heads that were named, or all."""
        request = self.request
        if request.layer is not None:
            found = [h for h in self.heads if h.layer == request.layer]
            if not found:
                raise RegardError(self._no(f"layer {request.layer}"))
            return found
        if not request.heads:
            return self.heads
        found = []
        for layer, head in request.heads:
            there = [h for h in self.heads if (h.layer, h.head) == (layer, head)]
            if not there:
                raise RegardError(self._no(f"head {layer}.{head}"))
            if len(there) > 1:
                raise RegardError(
                    f"{self.trial.title} has a head {layer}.{head} in {', '.join(self.parts)}: say "
                    "which with --part"
                )
            found += there
        return found

    def _no(self, what: str) -> str:
        if not self.heads:
            return f"{self.trial.title} has no heads: take words away, --word or --each words"
        layers, heads = (max(getattr(h, name) for h in self.heads) for name in ("layer", "head"))
        return (
            f"there is no {what}: {self.trial.title} has layers 0 to {layers} with heads 0 to "
            f"{heads}"
        )

    def _removed(self, heads: list[HeadAt]) -> list[Variant]:
        """Each alone; and where some were named, all of them together."""
        how = {"by": self.request.by}
        alone = [Variant((head,), how=how) for head in heads]
        named = self.request.layer is not None or len(self.request.heads) > 1
        return [Variant(tuple(heads), how=how), *alone] if named else alone

    def _masked(
        self, parts: tuple[str, ...], query: Word | None, key: Word | None
    ) -> list[Variant]:
        """In all heads at once, and in each alone; or in those that were named."""
        heads = [h for h in self._chosen() if h.part in parts]
        alone = [Variant((head,), query, key, how=self.masking) for head in heads]
        if self.request.heads or self.request.layer is not None:
            together = Variant(tuple(heads), query, key, how=self.masking)
            return [together, *alone] if len(heads) > 1 else alone
        return [Variant((), query, key, parts, self.masking), *alone]

    def _layers(self) -> list[Variant]:
        places = dict.fromkeys((h.part, h.layer) for h in self.heads)
        return [
            Variant(
                tuple(h for h in self.heads if (h.part, h.layer) == place),
                how={"by": self.request.by},
            )
            for place in places
        ]

    def _words(self, but: Word | None = None) -> list[Variant]:
        words = [w for w in content_words(self.trial.pieces) if w != but]
        if not words:
            raise RegardError("the text has no word that could be taken away")
        return [Variant((), None, word, self._reading, self.masking) for word in words]

    def _links(self) -> list[Variant]:
        """Every link between content words in one head."""
        heads = self._chosen()
        if len(heads) != 1:
            raise RegardError("--each links is about one head: say which with --head LAYER.HEAD")
        (head,) = heads
        back = head.part == "decoder" or self.trial.looks_back
        return [
            Variant((head,), query, key, how=self.masking)
            for query in content_words(self._side(head.part, True))
            for key in content_words(self._side(head.part, False))
            if head.part == "cross" or not (query == key or (back and key.start > query.start))
        ]

    def sample(self, variants: list[Variant]) -> list[Variant]:
        """Some of many heads, to judge an estimate of all by."""
        if self.request.kind != "head":
            raise RegardError("--estimate is of heads that are removed: leave out links and words")
        alone = [v for v in variants if len(v.heads) == 1]
        if len(alone) <= SAMPLE:
            return alone
        places = sorted(Random(self.request.seed).sample(range(len(alone)), SAMPLE))
        return [alone[i] for i in places]

    def baseline(
        self,
        running: Engine,
        measured: Measured,
        variants: list[Variant],
        effects: list[Effect],
    ) -> Baseline | None:
        """The same as the first of all (that of everything named together) to random others."""
        request, first = self.request, variants[0]
        if request.kind == "head" and len(variants) > 1 and effects[0].head is not None:
            chance = Random(request.seed)
            drawn = chance.sample(effects, min(DRAWS, len(effects)))
            return Baseline("1 head", [effect.change for effect in drawn])
        if request.each is not None or not (first.heads or first.key):
            return None
        others = self._others(first)
        if len(others) < 2:
            return None
        found = _measure(running, measured, others)
        return Baseline(_named(first), [effect.change for effect in found])

    def _others(self, first: Variant) -> list[Variant]:
        """As many heads or words as the first variant takes, but others."""
        request = self.request
        if not first.masks:
            draws = random_others(self.heads, first.heads, DRAWS, request.seed)
            return [Variant(heads, how=first.how) for heads in draws]
        part = (first.parts or tuple(h.part for h in first.heads))[0]
        back = part == "decoder" or self.trial.looks_back
        others = [
            Variant(first.heads, first.query, word, first.parts, first.how)
            for word in content_words(self._side(part, False))
            if word not in (first.key, first.query)
            and not (back and first.query is not None and word.start > first.query.start)
        ]
        return Random(request.seed).sample(others, min(DRAWS, len(others)))


def _named(variant: Variant) -> str:
    if variant.query is not None:
        return f"another link of {variant.query.text!r}"
    if variant.key is not None:
        return "another word"
    count = len(variant.heads)
    return f"{count} other head{'s' if count > 1 else ''}"


def _measure(
    running: Engine,
    measured: Measured,
    variants: Sequence[Variant],
    progress: Progress | None = None,
) -> list[Effect]:
    """The effect of each variant, in their order."""
    found: dict[int, Effect] = {}
    several = len(running.trial.parts) > 1
    for places, output in running.run(variants, progress):
        values, apart = measured.values(output).tolist(), measured.divergences(output)
        for i, value, kl in zip(places, values, apart, strict=True):
            found[i] = _effect(variants[i], value, value - measured.base, kl, several)
    return [found[i] for i in range(len(variants))]


def _effect(
    variant: Variant, value: float, change: float, kl: float | None, several: bool
) -> Effect:
    heads = variant.heads
    layers = {h.layer for h in heads}
    parts = {h.part for h in heads} or set(variant.parts)
    return Effect(
        layers.pop() if len(layers) == 1 else None,
        heads[0].head if len(heads) == 1 else None,
        value,
        change,
        None,
        kl,
        parts.pop() if several and len(parts) == 1 else "",
        variant.query,
        variant.key,
        len(heads),
    )


def _translations(
    running: Engine,
    trial: AblationTrial,
    variants: list[Variant],
    effects: list[Effect],
    most: int = 10,
) -> dict[int, str]:
    """What a translator then writes, for the strongest effects."""
    if not isinstance(trial, TranslatorTrial):
        return {}
    order = sorted(range(len(effects)), key=lambda i: -abs(effects[i].change))
    texts = {}
    for i in order[:most]:
        with running.changed(variants[i]):
            texts[i] = trial.translation()
    return texts


def _estimate(
    trial: AblationTrial,
    guess: tuple[float, dict[HeadAt, float]],
    everything: list[Variant],
    sample: list[Variant],
    exact: list[Effect],
) -> EstimatedEffects:
    """All heads by one backward pass, beside those that were measured."""
    base, changes = guess
    several = len(trial.parts) > 1
    effects = []
    for variant in everything:
        if len(variant.heads) == 1:
            change = changes[variant.heads[0]]
            effects.append(_effect(variant, base + change, change, None, several))
    guessed = [abs(changes[v.heads[0]]) for v in sample]
    correlation = rank_correlation(guessed, [abs(e.change) for e in exact])
    return EstimatedEffects(effects, len(sample), correlation)
