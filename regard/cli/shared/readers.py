"""Readers: what ``regard read`` does with a thing that is no sentence, one for each option."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from regard.cli.shared.episode import EpisodeOptions, read_act
from regard.cli.shared.history import read_user
from regard.cli.shared.image import read_image
from regard.cli.shared.labels import read_labelled_image, read_labelled_series, task_of
from regard.cli.shared.series import WITHOUT, SeriesOptions
from regard.cli.shared.sound import read_sound
from regard.errors import RegardError

Given = Mapping[str, Any]
"""The options on the command line, without their dashes, and their values."""
TABLE = ("channel", "time", "decimal", "gaps")
"""How a series' table is written: every reader of one takes them."""
SHOWN = ("at", "layer", "head", "json", "html")
"""Which of its steps, whose weights, and where to: of most things with an order in time."""
COMPANIONS = {
    **dict.fromkeys(("csv", "png"), "is of a forecast: it goes with --series"),
    **dict.fromkeys(TABLE, WITHOUT),
    "episodes": "goes with --episode, which says which of them is read",
    "at": "goes with --series, --episode, or with --image and a labeller",
    "history": "goes with --user, whose history is read",
}
"""Options that only a thing takes, and what is said of them without it."""


class ThingReader(NamedTuple):
    """What reads the thing that ``option`` names."""

    option: str
    takes: tuple[str, ...]
    """Of the other options, beside --model."""
    read: Callable[[str | None, Given], None]
    tasks: tuple[str, ...] = ()
    """The tasks of the models that it is for; none: of all that no other reader is for."""


def _forecast(model: str | None, given: Given) -> None:
    from regard.cli.shared.forecast import ForecastOptions, read_forecast

    asked = ForecastOptions(*_of(given, *SHOWN, "csv", "png"))
    read_forecast(model or "forecaster", _table(given), asked)


def _labelled_series(model: str | None, given: Given) -> None:
    assert model is not None
    read_labelled_series(model, _table(given), *_of(given, *SHOWN))


def _labelled_image(model: str | None, given: Given) -> None:
    assert model is not None
    read_labelled_image(model, *_of(given, "image", "at", "json", "html"))


def _image(model: str | None, given: Given) -> None:
    read_image(model or "fashion", *_of(given, "image", "json", "html"))


def _sound(model: str | None, given: Given) -> None:
    read_sound(model, *_of(given, "sound", "json", "html"))


def _episode(model: str | None, given: Given) -> None:
    if model is None:
        raise RegardError("no actor comes with regard: --episode needs --model RUN")
    read_act(model, EpisodeOptions(*_of(given, "episode", "episodes", *SHOWN)))


def _user(model: str | None, given: Given) -> None:
    if model is None:
        raise RegardError("no recommender comes with regard: --user needs --model RUN")
    read_user(model, *_of(given, "user", "history", "layer", "head", "json", "html"))


READERS = (
    ThingReader("series", SHOWN, _labelled_series, ("label-series",)),
    ThingReader("series", ("at", "layer", "head", "json", "csv", "png", "html"), _forecast),
    ThingReader("episode", ("episodes", *SHOWN), _episode),
    ThingReader("sound", ("json", "html"), _sound),
    ThingReader("image", ("at", "json", "html"), _labelled_image, ("label-images",)),
    ThingReader("image", ("json", "html"), _image),
    ThingReader("user", ("history", "layer", "head", "json", "html"), _user),
)


def reader_of(model: str | None, said: Collection[str]) -> ThingReader | None:
    """The reader of the thing that is among the options ``said``; None if there is none.

    Raises for options that it does not take, or that only a thing takes.
    """
    option = next((reader.option for reader in READERS if reader.option in said), None)
    if option is None:
        for name, why in COMPANIONS.items():
            if name in said:
                raise RegardError(f"--{name} {why}")
        return None
    several = [reader for reader in READERS if reader.option == option]
    # What the model is for is looked up only where that decides.
    task = task_of(model) if model is not None and len(several) > 1 else None
    found = next(reader for reader in several if not reader.tasks or task in reader.tasks)
    table = TABLE if found.option == "series" else ()
    if not set(said) <= {"model", found.option, *found.takes, *table}:
        takes = ", ".join(f"--{name}" for name in found.takes)
        raise RegardError(
            f"--{found.option} is read alone: of the other options it takes --model, {takes}"
        )
    return found


def given_options() -> dict[str, Any]:
    """What stands on the command line: options without their dashes, and their values."""
    context = click.get_current_context()
    return {
        parameter.opts[0].lstrip("-"): context.params[parameter.name]
        for parameter in context.command.params
        if parameter.name is not None
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    }


def _of(given: Given, *names: str) -> list[Any]:
    return [given.get(name) for name in names]


def _table(given: Given) -> SeriesOptions:
    return SeriesOptions(*_of(given, "series", *TABLE))
