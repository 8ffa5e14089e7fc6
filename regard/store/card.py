"""Card: what is to be known of a trained model before it is used: its data, its training, its
quality. Models that come with regard have one that was written; a run's own is made from its
config and its log."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from regard.store.folder import TASKS, RunFolder
from regard.text import number_of

CARD = "card.md"
UNKNOWN = (
    "A model is made of its data: under which licence this one may be passed on, and whose work it "
    "has learned from, is decided by the text above."
)


def card_of(run: RunFolder) -> str:
    """The card of a run folder, as Markdown."""
    written = run.path / CARD
    if written.exists():
        return written.read_text(encoding="utf-8")
    config = run.read_config()
    model = config.get("model", {})
    return "\n".join(
        [
            f"# {model.get('model', 'model')}: a {TASKS.get(config['task'], 'model')}",
            "",
            f"Trained by regard {config.get('made', {}).get('regard', '')}".rstrip() + ".",
            "",
            "## Data",
            "",
            *_listed(config.get("data", {}), files_only=True),
            "",
            UNKNOWN,
            "",
            "## Training",
            "",
            *_began(config.get("train", {})),
            *_events(run, config.get("train", {})),
            *_listed(model),
            "",
        ]
    )


def _began(train: dict[str, Any]) -> list[str]:
    """Which weights were not drawn at random, and which were not trained."""
    found = []
    if start := train.get("start"):
        path = Path(start)  # of a file of weights, its folder says more than its name
        name = path.parent.name if path.name.endswith(".safetensors") else path.name
        found.append(f"- began with the weights of {name}")
    if still := train.get("freeze"):
        found.append(f"- not trained, kept as they began: {still}")
    return found


def _listed(settings: dict[str, Any], files_only: bool = False) -> list[str]:
    """Settings that say something, a line each; paths of the user's machine stay behind."""
    shown = {k: v for k, v in settings.items() if v not in (None, "", 0, False)}
    if files_only:
        shown = {k: os.path.basename(v) for k, v in shown.items() if isinstance(v, str)}
    return [f"- {name}: {value}" for name, value in shown.items()]


def _events(run: RunFolder, train: dict[str, Any]) -> list[str]:
    """What the log says of the data and of the end."""
    try:
        lines = run.log.read_text(encoding="utf-8").split("\n")
    except OSError:
        return []
    events = {}
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:  # the end, or a last line cut by a crash
            break
        events[event.get("event")] = event
    found = []
    if {"train", "valid"} <= (data := events.get("data", {})).keys():
        found.append(
            f"- {number_of(data['train'], 'example')} to train on, {data['valid']:,} to validate"
        )
    if valid := events.get("valid"):
        end, name = events.get("end", {}), valid.get("name", "loss")
        figure = end.get("figure", valid.get("score", valid["loss"]))
        if train.get("monitor") == "loss":
            name, figure = "loss", end.get("figure", valid["loss"])
        found.append(f"- validation {name} {figure:.2f} after {number_of(valid['step'], 'update')}")
    return found
