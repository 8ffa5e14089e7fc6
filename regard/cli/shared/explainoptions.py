"""What ``explain`` was asked: its options, and which of them stand on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from regard.errors import RegardError

OF_VECTORS = (
    *("vectors", "mechanism", "seed", "weights", "heads", "key_width", "positions"),
    *("causal", "skip_unknown"),
)
"""Options that make an example of a sentence; a file has its own keys for these."""
OF_WHOLE = ("parts", "said", "temperature", "top")
OF_MODELS = (
    *("model", "layer", "to", "part", "target", "compare", "everything", "whole"),
    *OF_WHOLE,
)


@dataclass(frozen=True)
class ExplainOptions:
    """What stands on the command line, but for the sentence."""

    word: str | None
    head: int | None
    json_to: str | None
    html_to: str | None
    form: str | None
    model: str
    layer: int | None
    to: str | None
    part: str | None
    target: str | None
    compare: str | None
    everything: bool
    whole: bool
    parts: bool
    said: str | None
    temperature: float
    top: int
    of_vectors: Mapping[str, Any]
    """The values of :data:`OF_VECTORS`."""
    given: Mapping[str, str]
    """The options that were written, by their names here, as they are written."""

    @classmethod
    def of(cls, ctx: click.Context, options: dict[str, Any]) -> ExplainOptions:
        """Those of a command line."""
        source = click.core.ParameterSource.COMMANDLINE
        written = [p for p in ctx.command.params if p.name is not None]
        given = {
            str(p.name): p.opts[0]
            for p in written
            if ctx.get_parameter_source(str(p.name)) is source
        }
        vectors = {name: options.pop(name) for name in OF_VECTORS}
        return cls(**options, of_vectors=vectors, given=given)

    @property
    def quietly(self) -> bool:
        """Whether standard output is for a program."""
        return self.json_to == "-"

    def has(self, *names: str) -> bool:
        """Whether one of these options was written."""
        return any(name in self.given for name in names)

    def refuse(self, *names: str, why: str) -> None:
        """An option that would be ignored is a mistake to be told about."""
        for name in names:
            if name in self.given:
                raise RegardError(f"{self.given[name]} does not apply here: {why}")
