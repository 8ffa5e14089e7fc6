"""ablate(): what changes in a model's output if this is taken away, and did its weight tell so?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from regard.errors import RegardError
from regard.inside.ablate.engine import Engine, engine
from regard.inside.ablate.estimate import estimated
from regard.inside.ablate.measure import Measured, rank_correlation
from regard.inside.ablate.request import DRAWS, AblationRequest, Asked
from regard.inside.ablate.trial import AblationTrial, TranslatorTrial
from regard.inside.ablate.variant import HeadAt, Variant
from regard.inside.ablate.weights import WordWeights
from regard.pieces.ablation import Ablation, Baseline, Effect, EstimatedEffects

Progress = Callable[[int, int], None]


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
        baseline = _baseline(asked, running, measured, variants, effects)
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


def _baseline(
    asked: Asked,
    running: Engine,
    measured: Measured,
    variants: list[Variant],
    effects: list[Effect],
) -> Baseline | None:
    """The same as the first of all (that of everything named together) to random others."""
    request, first = asked.request, variants[0]
    if request.kind == "head" and len(variants) > 1 and effects[0].head is not None:
        chance = Random(request.seed)
        drawn = chance.sample(effects, min(DRAWS, len(effects)))
        return Baseline("1 head", [effect.change for effect in drawn])
    if request.each is not None or not (first.heads or first.key):
        return None
    others = asked.others(first)
    if len(others) < 2:
        return None
    found = _measure(running, measured, others)
    return Baseline(_named(first), [effect.change for effect in found])


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
