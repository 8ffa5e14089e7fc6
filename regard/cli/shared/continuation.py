"""Going on with a text: the options of ``regard read --continue``, and what it prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.decoding import check_sampling, sampling_of
from regard.cli.shared.output import note_unknown, write_json_lines
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.models.continuation import Continuation

INSTEAD = "use words that it was trained on, or train one on text that has these"
"""What is said of words that a model does not know."""


def check_going_on(
    words: int | None, n_best: int, drawn: dict[str, Any], shown: dict[str, Any]
) -> None:
    """Raise for options of reading with ``--continue``, and for its own without it."""
    own = {"sample": drawn["sample"] or None, "n-best": n_best if n_best > 1 else None}
    own |= {name.replace("_", "-"): value for name, value in drawn.items() if name != "sample"}
    for name, value in (own if words is None else shown).items():
        if value is not None and words is None:
            raise RegardError(f"--{name} goes with --continue N, which makes the text longer")
        if value is not None:
            raise RegardError(
                f"--continue prints text and no attention: leave --{name} out, and read "
                "the longer text with another 'regard read'"
            )
    check_sampling(**drawn)
    if n_best > 1 and not drawn["sample"]:
        raise RegardError("the likeliest words are one text: --n-best goes with --sample here")


def go_on(
    name: str,
    texts: Sequence[str],
    words: int,
    n_best: int,
    drawn: dict[str, Any],
    json_to: str | None,
) -> None:
    """Print each text with the words that the model says after it."""
    from regard.store.shipped import find_folder

    folder = find_folder(name, "lm")
    from regard.models.continuation import continue_text
    from regard.models.reading import prepared
    from regard.pieces.text import learned_pieces
    from regard.pieces.unknown import Unknown
    from regard.store.folder import load_language_model

    sampling = sampling_of(**drawn)
    model, tokens = load_language_model(folder)
    found = (
        continue_text(model, tokens, text, words, samples=n_best, sampling=sampling, number=number)
        for number, text in enumerate(texts)
    )
    if json_to is not None:
        write_json_lines(
            (json.dumps(_as_dict(each), ensure_ascii=False) for each in found), json_to
        )
    else:
        _print_continued(found, scored=n_best > 1)
    unknown = Unknown()
    for pieces in learned_pieces(tokens, [prepared(tokens, text) for text in texts]):
        unknown.add(pieces)
    note_unknown(unknown, name, instead=INSTEAD)


def _as_dict(each: Sequence[Continuation]) -> dict[str, Any]:
    return {"continuations": [one.to_dict() for one in each]}


def _print_continued(found: Iterator[list[Continuation]], scored: bool) -> None:
    """One text a line; of several, each behind its log p, and a line between them."""
    from regard.text import visible

    for number, each in enumerate(found):
        if number and scored:
            click.echo()
        for one in each:
            click.echo((f"{one.log_p:7.2f}  " if scored else "") + visible(one.text))
