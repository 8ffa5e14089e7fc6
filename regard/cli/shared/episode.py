"""``read --episode``: what an actor does at a step of a recorded episode, and what it looked at."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.output import check_outputs, say_written, write_json, write_trace_page
from regard.errors import RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.inside.episodereading import ActReading


@dataclass(frozen=True)
class EpisodeOptions:
    """Which step of which episode is read, and how it is shown."""

    episode: str
    file: str | None
    at: str | None
    layer: int | None
    head: int | None
    json_to: str | None
    html_to: str | None


def read_act(name: str, asked: EpisodeOptions) -> None:
    """Print the action at a step, its last unless one is named, and the pieces it came from."""
    check_outputs(asked.file, json=asked.json_to, html=asked.html_to)
    from regard.store.folder import RunFolder, load_actor
    from regard.store.shipped import find_folder

    folder = find_folder(name)
    file = asked.file or RunFolder(folder).read_config().get("data", {}).get("episodes")
    model, _ = load_actor(folder)
    from regard.inside.episodereading import read_episode
    from regard.train.tasks.actscores import read_for

    if file is None:
        raise RegardError(f"{name!r} does not say where its episodes are: give --episodes FILE")
    found = read_for(model, name, file)
    episode = found.of(asked.episode)
    row = len(episode) - 1 if asked.at is None else episode.row(asked.at)
    traced = asked.html_to is not None
    reading = read_episode(model, episode, found.columns, row, traced=traced)
    weights = reading.weights(asked.layer, asked.head)
    if asked.json_to is not None:
        content = as_dict(reading, None if weights is None else weights.tolist())
        write_json(json.dumps(content, ensure_ascii=False), asked.json_to)
    quiet = asked.json_to == "-"
    if not quiet:
        _print(reading, asked)
    if asked.html_to is not None:
        title = f"episode {episode.name}, step {reading.step}"
        write_trace_page(asked.html_to, reading.trace, title, name, reading.pieces, quiet)
    say_written(asked.json_to, quietly=quiet)


def as_dict(reading: ActReading, weights: list[float] | None) -> dict[str, Any]:
    """Plain data: what is said at the step, and of each piece that was read its weight."""
    read = zip(reading.steps, reading.kinds, reading.pieces.labels, strict=True)
    return {
        "model": reading.model,
        "episode": reading.episode.name,
        "step": reading.step,
        "to_go": float(reading.episode.to_go()[reading.row]),
        "recorded": reading.episode.actions[reading.row],
        "actions": dict(zip(reading.actions, reading.probabilities, strict=True)),
        "read": [
            {
                "step": step,
                "kind": kind,
                "label": label,
                "weight": None if weights is None else weights[i],
            }
            for i, (step, kind, label) in enumerate(read)
        ],
    }


def _print(reading: ActReading, asked: EpisodeOptions) -> None:
    from regard.views.terminal.console import make_console
    from regard.views.terminal.episode import print_act

    episode, weights = reading.episode, reading.weights(asked.layer, asked.head)
    shares = dict(zip(reading.actions, reading.probabilities, strict=True))
    likely = sorted(shares.items(), key=lambda pair: -pair[1])[:5]
    said = ", ".join(f"{visible(action)} {100 * share:.1f} %" for action, share in likely)
    click.echo(
        f"episode {visible(episode.name)}, step {reading.step}, "
        f"{episode.to_go()[reading.row]:g} still to come: {said}; recorded: "
        f"{visible(episode.actions[reading.row])}"
    )
    if weights is None:
        click.echo(f"{reading.model} has no attention: there are no weights to show")
        return
    layers, heads = reading.attention.shape[:2]
    where = [f"layer {layers - 1 if asked.layer is None else asked.layer}"] if layers > 1 else []
    if heads > 1:
        where.append(f"mean of {heads} heads" if asked.head is None else f"head {asked.head}")
    place = f" ({', '.join(where)})" if where else ""
    click.echo(f"what that looked at{place}, steps {reading.steps[0]} to {reading.steps[-1]}:")
    print_act(reading.pieces, weights, make_console())
