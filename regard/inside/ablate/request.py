"""Request: what is to be taken away, and the variants of a model that this means."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from regard.errors import RegardError
from regard.inside.ablate.engine import MEMORY
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt, Variant, random_others
from regard.inside.ablate.weights import content_words
from regard.text import Word

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

    def others(self, first: Variant) -> list[Variant]:
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
