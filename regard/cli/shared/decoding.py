"""The options by which ``translate`` and ``read --continue`` choose what a model says."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from regard.cli.shared.numbers import Real, Whole
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.models.sampling import Sampling

Function = TypeVar("Function", bound=Callable[..., Any])

ONLY_SAMPLED = ("temperature", "top_p", "seed")
DRAWN = ("sample", *ONLY_SAMPLED)
"""Whether words are drawn, and how."""


def decoding_options(function: Function) -> Function:
    """Add ``--n-best``, ``--sample`` and what goes with it to a command."""
    for option in reversed(
        (
            click.option(
                "--n-best",
                type=Whole(1),
                default=1,
                show_default=True,
                help="So many of each sentence, with their scores.",
            ),
            click.option(
                "--sample", is_flag=True, help="Draw words by their probability, not the likeliest."
            ),
            click.option(
                "--temperature",
                type=Real(0, min_open=True),
                help="With --sample: under 1 safer, over 1 wilder.  [default: 1]",
            ),
            click.option(
                "--top-p",
                type=Real(0, 1, min_open=True),
                help="With --sample: draw from the likeliest with this share.  [default: 1]",
            ),
            click.option(
                "--seed",
                type=Whole(0),
                help="With --sample: the same seed draws the same.  [default: 0]",
            ),
        )
    ):
        function = option(function)
    return function


def check_sampling(sample: bool, **given: Any) -> None:
    """Raise for options of sampling without ``--sample``, before anything is loaded."""
    names = [name for name in ONLY_SAMPLED if given.get(name) is not None]
    if names and not sample:
        options = " and ".join(f"--{name.replace('_', '-')}" for name in names)
        raise RegardError(f"{options} {'go' if len(names) > 1 else 'goes'} with --sample")


def sampling_of(sample: bool, **given: Any) -> Sampling | None:
    """How words are drawn; None if they are not."""
    from regard.models.sampling import Sampling

    chosen = {name: given[name] for name in ONLY_SAMPLED if given[name] is not None}
    return Sampling(**chosen) if sample else None
