"""``regard heads``: which head of a real model does what, in one text or over a corpus."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.looking import (
    PARTS,
    check_folders,
    estimated,
    layers_done,
    load_model,
    noted,
    read_part,
    read_text,
)
from regard.cli.shared.output import write_json
from regard.errors import DataError, RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.inside.heads.corpus import CorpusState
    from regard.inside.heads.ranking import Heads
    from regard.inside.textmodel import TextModel

KINDS = [
    *("previous", "next", "same", "first", "separator", "repeat", "induction", "local", "broad")
]


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="Read the text from a file; - is standard input.")
@click.option("--corpus", metavar="FILE", help="Instead: many texts, one a line, plain or gzip.")
@click.option(
    "--link", nargs=2, metavar="FROM TO", help="Rank by the weight from one word to another."
)
@click.option("--kind", type=click.Choice(KINDS), help="Rank by the score of one kind.")
@click.option("--part", type=click.Choice(PARTS), help="Of a model with encoder and decoder.")
@click.option("--target", metavar="TEXT", help="What the decoder reads; else what it writes.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Refuse longer texts.")
@click.option("--state", metavar="FILE", help="With --corpus: save here, and go on from here.")
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, help="Lines shown.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write all heads as JSON.")
def heads(
    model: str,
    text: str | None,
    file: str | None,
    corpus: str | None,
    link: tuple[str, str] | None,
    kind: str | None,
    part: str | None,
    target: str | None,
    max_tokens: int | None,
    state: str | None,
    top: int,
    json_to: str | None,
) -> None:
    """Which head of MODEL does what: its kind, with the scores of docs/heads.md.

    MODEL is an alias (minilm, smollm2), a folder, or a name on the hub.

    \b
    regard heads minilm "The animal didn't cross the street because it was too tired" \\
        --link it animal
    regard heads minilm --corpus texts.txt --state run.json --json heads.json

    Several processes share a corpus: torchrun --nproc-per-node 2 -m regard heads …
    """
    if link is not None and kind is not None:
        raise RegardError("rank by --link or by --kind, not both")
    check_folders(json_to, state)
    found: Heads | None
    if corpus is None:
        if state is not None:
            raise RegardError("--state goes with --corpus")
        content = read_text(text, file)
        loaded = load_model(model)
        found, whole = _of_text(loaded, content, part, target, link, max_tokens)
    else:
        if text is not None or file is not None or target is not None:
            raise RegardError("--corpus takes the place of TEXT, --file and --target: give one")
        try:
            found, whole = _of_corpus(model, corpus, part, link, max_tokens, state)
        except RegardError:
            if os.environ.get("RANK", "0") == "0":
                raise
            click.get_current_context().exit(2)  # the first process says it
    if found is not None:
        _write(found, kind, link, top, json_to)
    if not whole:
        click.get_current_context().exit(130)


def _of_text(
    model: TextModel,
    text: str,
    part: str | None,
    target: str | None,
    link: tuple[str, str] | None,
    most: int | None,
) -> tuple[Heads, bool]:
    """All heads by one text, and whether it was not stopped."""
    from regard.inside.heads.ranking import Heads
    from regard.inside.look import LookRequest, look
    from regard.train.run.stop import stopping

    wish = LookRequest(part=read_part(model, part, target), link=link, links=0)
    tokens = model.read(text, most)
    other = model.target(tokens, target, most) if wish.part in ("decoder", "cross") else None
    with noted(), stopping() as stop, layers_done("looking") as progress:
        if not model.has_both:
            estimated(lambda start: look(model, start, LookRequest(links=0)), tokens)
        found = look(model, tokens, wish, target=other, progress=progress, stop=stop)
    if stop.is_set():
        what = f"stopped after layer {found.done} of {found.layers}; this is what was finished"
        click.echo(f"regard: {what}", err=True)
    return Heads.of_look(found), not stop.is_set()


def _of_corpus(
    name: str,
    corpus: str,
    part: str | None,
    link: tuple[str, str] | None,
    most: int | None,
    state: str | None,
) -> tuple[Heads | None, bool]:
    """All heads by a corpus; None on processes that do not talk to the user."""
    from regard.inside.heads.corpus import rank_corpus
    from regard.train.run.distributed import joined
    from regard.train.run.stop import stopping

    with joined("cpu") as world, stopping() as stop:
        first: list[TextModel] = []
        world.from_main(lambda: first.append(load_model(name)))  # fetches it before the others
        loaded = first[0] if first else load_model(name)
        if read_part(loaded, part, None) not in ("", "encoder"):
            raise RegardError("over a corpus only the encoder is read: leave out --part")
        with noted(), CorpusProgress(corpus, shown=world.main) as progress:
            done = rank_corpus(
                loaded,
                corpus,
                world,
                link=link,
                most=most,
                state_file=state,
                progress=progress,
                stop=stop,
            )
        if not world.main:
            return None, not stop.is_set()
        _say(done, stop.is_set(), state, loaded, most)
        return done.sums.heads(loaded.name, link is not None), not stop.is_set()


def _say(
    done: CorpusState, stopped: bool, state: str | None, model: TextModel, most: int | None
) -> None:
    """What was read, what was left out, how to go on."""
    sums = done.sums
    if sums.texts == 0 and not stopped:
        raise DataError("the corpus has no line that the model can read: all are empty or too long")
    said = [f"{sums.texts:,} texts, {sums.tokens:,} tokens"]
    if sums.long:
        bound = min(n for n in (most, model.positions) if n is not None)
        said.append(f"{sums.long:,} lines longer than {bound:,} tokens left out")
    if sums.empty:
        said.append(f"{sums.empty:,} empty lines")
    if done.setting["link"]:
        said.append(f"{sums.linked:,} texts with both words")
    click.echo("; ".join(said), err=True)
    if stopped:
        how = f"go on with --state {state}" if state else "with --state FILE it could go on"
        click.echo(f"regard: stopped after line {done.lines:,}; {how}", err=True)


def _write(
    found: Heads, kind: str | None, link: tuple[str, str] | None, top: int, json_to: str | None
) -> None:
    from regard.views.terminal.console import make_console
    from regard.views.terminal.heads import print_heads

    if json_to:
        content = found.to_json(kind)
        write_json(json.dumps(content, ensure_ascii=False, allow_nan=False), json_to)
    if json_to != "-":
        print_heads(found, make_console(), kind=kind, link=link, shown=top)
        if json_to:
            click.echo(f"Written: {visible(json_to)}")


class CorpusProgress:
    """A bar on a terminal, a line every few seconds elsewhere, and an estimate at the start."""

    def __init__(self, path: str, shown: bool) -> None:
        self.path, self.shown = path, shown
        self.start = self.last = time.monotonic()
        self.first: float | None = None
        self.told = False
        self.bar: Any = None

    def __enter__(self) -> CorpusProgress:
        from rich.console import Console

        console = Console(stderr=True)
        if self.shown and console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn())
            self.bar = Progress(*columns, console=console, transient=True)
            self.task = self.bar.add_task("", total=1.0)
            self.bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self.bar:
            self.bar.stop()

    def __call__(self, state: CorpusState, share: float) -> None:
        if not self.shown:
            return
        now = time.monotonic()
        if self.first is None:  # what a state has read before took no time now
            self.first, self.start = share, now
        spent, gone = now - self.start, share - self.first
        left = spent / gone * (1 - share) if gone > 0 else 0.0
        if not self.told and spent > 2 and gone > 0:
            self.told = True
            self._say(self._estimate(left))
        text = f"{state.lines:,} lines, {state.sums.tokens:,} tokens"
        if self.bar:
            self.bar.update(self.task, completed=share, description=text)
        elif now - self.last >= 5:
            self.last = now
            self._say(f"{share:.0%}: {text}, {_clock(left)} left")

    def _estimate(self, left: float) -> str:
        import resource
        import sys

        from regard.cost.units import in_bytes

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak *= 1 if sys.platform == "darwin" else 1024
        return (
            f"about {_clock(left)} for the rest of {os.path.basename(self.path)}; memory does not "
            f"grow with it, {in_bytes(peak)} so far with the model"
        )

    def _say(self, text: str) -> None:
        if self.bar:
            self.bar.console.print(visible(text), markup=False, highlight=False)
        else:
            click.echo(visible(text), err=True)


def _clock(seconds: float) -> str:
    from regard.train.run.progress import format_seconds

    return format_seconds(seconds)
