"""Report: the page of a finished run, one file that opens anywhere: how it went, what the model
says, where it looks, and its card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from regard.errors import RegardError
from regard.files import write_text
from regard.store.card import card_of
from regard.store.folder import RunFolder
from regard.text import number_of, visible
from regard.train.run.drawing import Points, alignment, chart
from regard.train.run.log import read_log

Events = Sequence[Mapping[str, Any]]
LOOKS = 3
"""Sentences whose alignment is drawn."""
STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --faint: #8884; --one: #1f5fa8;
  --two: #b4530c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --paper: #14181e; --one: #7fb3ee;
  --two: #f0a05a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
svg { font: 12px system-ui, sans-serif; fill: var(--ink); width: 27rem; max-width: 100%; }
.grid { stroke: var(--faint); } .line { fill: none; stroke-width: 1.8; stroke-linecap: round; }
.line.l0 { stroke: var(--one); } .line.l1 { stroke: var(--two); }
text.l0 { fill: var(--one); } text.l1 { fill: var(--two); }
rect { fill: var(--one); stroke: var(--faint); }
table { border-collapse: collapse; } td, th { text-align: left; padding: .2rem .8rem .2rem 0;
  vertical-align: top; border-bottom: 1px solid var(--faint); }
pre { white-space: pre-wrap; background: var(--faint); padding: 1rem; border-radius: 4px; }
figure { margin: 1rem 0; overflow-x: auto; } figcaption { font-weight: 600; }
"""


def write_report(run: RunFolder) -> None:
    """Write report.html into the run folder, from its log, its config and its model."""
    events, config = read_log(run.log), run.read_config()
    title = f"{run.path.resolve().name}: {config['task']}"
    body = "\n".join(
        [
            f"<h1>{_text(title)}</h1>",
            *_curves(events, config.get("train", {})),
            *_samples(events),
            *_looks(run, events),
            "<h2>Card</h2>",
            f"<pre>{_text(card_of(run))}</pre>",
        ]
    )
    head = f'<meta charset="utf-8"><title>{_text(title)}</title><style>{STYLE}</style>'
    meta = '<meta name="viewport" content="width=device-width">'
    page = (
        f'<!doctype html>\n<html lang="en">\n<head>{meta}{head}</head>\n<body>\n{body}\n</body>\n'
    )
    write_text(run.report, f"{page}</html>\n")


def _curves(events: Events, train: Mapping[str, Any]) -> Iterator[str]:
    """Loss, and the score if there is one; smoothed labels make the loss of training greater."""
    smoothing = train.get("smoothing", 0)
    own = f"training (smoothing {smoothing:g})" if smoothing else "training"
    loss = {
        own: _points(events, "train", "loss"),
        "validation": _points(events, "valid", "loss"),
    }
    yield "<h2>How it went</h2>"
    yield chart(loss, "updates", "loss per token")
    named = [event["name"] for event in events if event.get("event") == "valid" and "name" in event]
    if named:
        score = _points(events, "valid", "score")
        yield chart({f"validation {named[0]}": score}, "updates", str(named[0]))
    end = next((e for e in reversed(events) if e.get("event") == "end"), None)
    if end is not None and end.get("figure") is not None:
        kind = ", of the average of the best checkpoints" if end.get("averaged") else ""
        what = "loss" if train.get("monitor") == "loss" else named[0] if named else "figure"
        yield (
            f"<p>Ended ({_text(str(end['reason']))}) after {number_of(end['step'], 'update')}; "
            f"validation {_text(str(what))} {end['figure']:.2f}{kind}.</p>"
        )


def _points(events: Events, event: str, key: str) -> Points:
    return [(e["step"], e[key]) for e in events if e.get("event") == event and key in e]


def _samples(events: Events) -> Iterator[str]:
    """What the model said of the same sentences at the first, a middle and the last validation."""
    shown = [e for e in events if e.get("event") == "valid" and e.get("samples")]
    if not shown:
        return
    some = [shown[i] for i in sorted({0, len(shown) // 2, len(shown) - 1})]
    yield "<h2>What it said</h2>"
    for number, sample in enumerate(shown[-1]["samples"]):
        yield f"<h3>{_text(sample['source'])}</h3><table>"
        for event in some:
            said = event["samples"][number]["said"] or "(nothing)"
            yield f"<tr><th>step {event['step']:,}<td>{_text(said)}"
        yield f"<tr><th>reference<td>{_text(sample['reference'])}</table>"


def _looks(run: RunFolder, events: Events) -> Iterator[str]:
    """Where the finished translator looks while it translates the same sentences."""
    shown = [e for e in events if e.get("event") == "valid" and e.get("samples")]
    if not shown or not run.model.exists():
        return
    from regard.models.translators.translation import translate_texts
    from regard.store.folder import load_translator

    sources = [sample["source"] for sample in shown[-1]["samples"][:LOOKS]]
    try:
        model, tokens = load_translator(run.path)
        found = list(translate_texts(model, tokens, sources))
    except RegardError as error:  # a sentence that is too long to be translated by the command
        yield f"<p>{_text(str(error))}</p>"
        return
    drawn = [t for t in found if t.alignment.any()]
    if drawn:
        yield "<h2>Where it looks</h2>"
    for one in drawn:
        picture = alignment(one.source, one.target, one.alignment.tolist())
        yield f"<figure><figcaption>{_text(one.text)}</figcaption>{picture}</figure>"


def _text(text: str) -> str:
    """Text that cannot be anything else."""
    return escape("\n".join(visible(line) for line in text.split("\n")))
