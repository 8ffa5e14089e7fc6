"""``--with``: several translators propose, and all of them judge."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.output import note_unknown, write_json_lines
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.models.translators.together import Judged

OF_ONE = ("sample", "alignment", "pieces", "layer", "head", "html", "png", "svg", "trace")
"""Options of what a single model does."""


def check_together(**given: Any) -> None:
    """Raise for options of a single model, before anything is loaded."""
    own = [name for name in OF_ONE if given.get(name) is not None and given[name] is not False]
    if own:
        raise RegardError(
            f"--with chooses among what several models say, and --{own[0]} is of one: leave one of "
            "them out"
        )


def translate_together(
    models: Sequence[str],
    texts: Sequence[str],
    n_best: int,
    json_to: str | None,
    instead: str,
    **search: Any,
) -> None:
    """Print, or write as JSON, what ``models`` find likeliest together."""
    from regard.store.shipped import find_together

    folders = find_together(models)
    from regard.models.translators.together import judged_texts
    from regard.pieces.unknown import Unknown
    from regard.store.folder import load_translator

    speakers, unknown = [load_translator(folder) for folder in folders], Unknown()
    found = judged_texts(speakers, texts, best=n_best, **search)

    def counted() -> Iterator[list[Judged]]:
        for best in found:
            unknown.add(best[0].read)
            yield best

    if json_to is not None:
        lines = (json.dumps(_as_dict(best, models), ensure_ascii=False) for best in counted())
        write_json_lines(lines, json_to)
    else:
        _print(counted(), len(texts), scored=n_best > 1)
    what = "alphabet" if speakers[0][1].spells else "vocabulary"
    note_unknown(unknown, models[0], what=what, instead=instead)


def _as_dict(best: Sequence[Judged], models: Sequence[str]) -> dict[str, Any]:
    """All of them, each with its score and with what each model says of it."""
    every = [
        {
            "text": one.text,
            "score": _number(one.score),
            "scores": [
                {"model": model, "score": _number(score)}
                for model, score in zip(models, one.scores, strict=True)
            ],
        }
        for one in best
    ]
    return every[0] | ({"n_best": every} if len(every) > 1 else {})


def _number(score: float) -> float | None:
    """As JSON can hold it: none where a model holds a text to be impossible."""
    return round(score, 6) if math.isfinite(score) else None


def _print(found: Iterator[list[Judged]], texts: int, scored: bool) -> None:
    """One translation a line; of several, each behind its score, and a line between sentences."""
    from regard.text import visible

    for i, best in enumerate(found):
        for one in best:
            click.echo((f"{one.score:7.3f}  " if scored else "") + visible(one.text))
        if scored and i < texts - 1:
            click.echo()
