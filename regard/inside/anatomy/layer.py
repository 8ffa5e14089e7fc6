"""Layer: what attention and the feed-forward network of one layer add to the vector of one word.

    norm before    x' = x + attention(norm(x)),  x" = x' + feed-forward(norm(x'))     GPT-2, Llama
    norm after     x' = norm(x + attention(x)),  x" = norm(x' + feed-forward(x'))     BERT
    side by side   x' = x + attention(norm(x)) + feed-forward(norm(x))                GPT-NeoX

Which of these it is, is read from the sums that hold (sums.py), not from the model's name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from regard.errors import ModelError
from regard.inside.anatomy.feedforward import formula_of
from regard.inside.anatomy.heads import HeadsOfWord, heads_of_word
from regard.inside.anatomy.linear import numbers
from regard.inside.anatomy.norm import HeldNorm, held, is_norm
from regard.inside.anatomy.runs import ModuleRun, same
from regard.inside.anatomy.sums import Addend, Sum, find_sums
from regard.inside.observe.layer import ObservedLayer
from regard.trace import Array

ATTENTION, CROSS, FEEDFORWARD = "attention", "cross-attention", "feed-forward"


@dataclass(frozen=True)
class Sublayer:
    """One thing that a layer adds to the vector of the followed word."""

    kind: str
    name: str
    """The module whose output it is."""
    before: Array
    """The vector it is added to."""
    adds: Array
    after: Array
    """Their sum."""
    norm_before: HeldNorm | None = None
    """Of the vector, for this part to read."""
    norm_out: HeldNorm | None = None
    """Of what this part puts out."""
    norm_after: HeldNorm | None = None
    """Of the sum."""
    factor: float = 1.0
    heads: HeadsOfWord | None = None
    inner: str = ""
    """The formula of a feed-forward network."""

    @property
    def read(self) -> Array:
        """What this part was given to read."""
        return self.before if self.norm_before is None else self.norm_before(self.before)

    @property
    def made(self) -> Array:
        """What is handed on."""
        return self.after if self.norm_after is None else self.norm_after(self.after)


@dataclass(frozen=True)
class LayerAnatomy:
    """All that a layer adds."""

    name: str
    sublayers: tuple[Sublayer, ...]
    layout: str
    """"before", "after" (where its norms stand) or "beside" (its parts run side by side)."""
    given: Array
    made: Array
    difference: float
    """Of its sums from what came next, over all tokens, in units of the largest number."""


def anatomy_of(
    layer: ModuleRun, runs: Sequence[ModuleRun], seen: Sequence[ObservedLayer], row: int
) -> LayerAnatomy:
    """The layer as it was for the token at ``row``; ``seen`` is its observed attention."""
    return LayerReader(layer, list(runs), list(seen), row).read()


class LayerReader:
    """Tells the parts of one layer by what its modules were given and what they made."""

    def __init__(
        self, layer: ModuleRun, runs: list[ModuleRun], seen: list[ObservedLayer], row: int
    ) -> None:
        self.layer, self.runs, self.seen, self.row = layer, runs, seen, row
        self.sums = find_sums(layer, runs)
        self.norms = [run for run in runs if is_norm(run.module)]

    def read(self) -> LayerAnatomy:
        found: list[Sublayer] = []
        for made in self.sums:
            before = self._row(made.before)
            parts = [self._sublayer(made, part) for part in made.parts]
            parts.sort(key=lambda part: part.kind == FEEDFORWARD)  # side by side: attention first
            for part in parts:
                after = before + part.adds
                norm = part.norm_after if part is parts[-1] else None
                found.append(replace(part, before=before, after=after, norm_after=norm))
                before = after
        kinds = [part.kind for part in found]
        if kinds.count(FEEDFORWARD) > 1 or not {ATTENTION, CROSS} & set(kinds):
            names = ", ".join(part.name for part in found)
            raise ModelError(
                f"{self.layer.name} adds what {names} put out, and regard cannot tell which of "
                "them is attention and which the feed-forward network"
            )
        layout = "after" if any(part.norm_after for part in found) else "before"
        layout = "beside" if any(len(made.parts) > 1 for made in self.sums) else layout
        ends = self._row(self.layer.given), self._row(self.layer.made)
        off = max(made.difference for made in self.sums)
        return LayerAnatomy(self.layer.name, tuple(found), layout, *ends, off)

    def _sublayer(self, made: Sum, part: Addend) -> Sublayer:
        source, norm_out = part.run, None
        if source in self.norms:  # its output is normed before it is added
            inner = next((run for run in self.runs if same(run.made, source.given)), None)
            if inner is not None:
                norm_out, source = self._held(source), inner
        attention = next((seen for seen in self.seen if self._belongs(source, seen)), None)
        kind = FEEDFORWARD
        if attention is not None:
            kind = CROSS if attention.kind == "cross" else ATTENTION
        before = self._row(made.before)
        return Sublayer(
            kind,
            source.name,
            before,
            self._row(part.run.made) * part.factor,
            before,
            self._norm_before(made, source, kind),
            norm_out,
            self._norm_after(made),
            part.factor,
            None if attention is None else heads_of_word(attention, source, self.row),
            "" if attention is not None else formula_of(source, self.runs),
        )

    def _norm_before(self, made: Sum, source: ModuleRun, kind: str) -> HeldNorm | None:
        """The norm of the stream that this part reads: the first, or of two the second."""
        until = self.runs.index(source)
        norms = [run for run in self.norms if same(run.given, made.before)]
        norms = [run for run in norms if self.runs.index(run) < until]
        if not norms:
            return None
        return self._held(norms[-1] if kind == FEEDFORWARD else norms[0])

    def _norm_after(self, made: Sum) -> HeldNorm | None:
        """The norm whose output goes on as the stream, in place of the sum itself."""
        streams = [self.layer.made, *(other.before for other in self.sums)]
        for run in self.norms:
            if same(run.given, made.after) and any(same(run.made, x) for x in streams):
                return self._held(run)
        return None

    def _belongs(self, source: ModuleRun, seen: ObservedLayer) -> bool:
        """Whether a module is in the attention that was observed, or beside it in one folder."""
        layer, parent = self.layer.name, seen.name.rpartition(".")[0]
        scope = parent if parent.startswith(f"{layer}.") else seen.name
        return source.name == scope or source.name.startswith(f"{scope}.")

    def _held(self, run: ModuleRun) -> HeldNorm:
        found = held(run.module, self._row(run.given), self._row(run.made))
        if found is None:
            raise ModelError(f"{run.name} is a norm of a kind that regard does not know")
        return found

    def _row(self, x: Tensor | None) -> Array:
        assert x is not None
        return numbers(x[self.row])
