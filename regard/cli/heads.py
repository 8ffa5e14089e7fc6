"""``regard heads``: which head of a real model does what, in one text or over a corpus."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.input import read_text
from regard.cli.shared.model import (
    PARTS,
    exit_stopped,
    load_measured,
    load_model,
    look_at,
    noted,
    read_part,
)
from regard.cli.shared.numbers import Whole
from regard.cli.shared.output import check_outputs, say_written, write_json
from regard.cli.shared.progress import PATIENCE, CommandProgress
from regard.errors import DataError, RegardError
from regard.files import STDIN, check_readable
from regard.pieces.heads import HEAD_KINDS
from regard.text import listed, number_of

if TYPE_CHECKING:
    from regard.inside.heads.corpus import CorpusState
    from regard.inside.textmodel import TextModel
    from regard.pieces.heads import Heads


@dataclass(frozen=True)
class HeadsOptions:
    """The command's options, as click names them."""

    file: str | None
    sound: str | None
    corpus: str | None
    link: tuple[str, str] | None
    kind: str | None
    part: str | None
    target: str | None
    measure: str | None
    max_tokens: int | None
    state: str | None
    top: int
    json_to: str | None

    def check(self, text: str | None) -> None:
        """What is wrong with the options alone is said before a model is loaded."""
        if self.link is not None and self.kind is not None:
            raise RegardError("rank by --link or by --kind, not both")
        check_outputs(self.file, self.sound, self.corpus, json=self.json_to, state=self.state)
        others = (text, self.file, self.corpus, self.link, self.kind, self.part, self.measure)
        if self.sound is not None and any((*others, self.max_tokens, self.state)):
            raise RegardError(
                "--sound ranks heads by how they align words with time: of the other options it "
                "takes --target, --top, --json"
            )
        if self.corpus is None and self.state is not None:
            raise RegardError("--state goes with --corpus")
        if self.corpus == STDIN and self.state is not None:
            raise RegardError("--state goes on in a file, and standard input cannot be read again")
        if self.corpus is not None and self.measure is not None:
            raise RegardError("--measure is of one text: leave out --corpus")
        if self.measure is not None and self.part == "cross":
            raise RegardError("--measure is of self-attention: leave out --part cross")
        if self.corpus is not None and (text, self.file, self.target) != (None, None, None):
            raise RegardError("--corpus takes the place of TEXT, --file and --target: give one")


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="Read the text from a file; - is standard input.")
@click.option("--sound", metavar="FILE", help="Instead: a wav; which heads align words with time.")
@click.option("--corpus", metavar="FILE", help="Instead: many texts, one a line; - is stdin.")
@click.option(
    "--link", nargs=2, metavar="FROM TO", help="Rank by the weight from one word to another."
)
@click.option("--kind", type=click.Choice(HEAD_KINDS), help="Rank by the score of one kind.")
@click.option("--part", type=click.Choice(PARTS), help="Of a model with encoder and decoder.")
@click.option("--target", metavar="TEXT", help="What the decoder reads; of a gradient, the word.")
@click.option(
    "--measure",
    type=click.Choice(["norm", "gradient"]),
    help="Derived from the weights, in their place.",
)
@click.option("--max-tokens", type=Whole(1), metavar="N", help="Refuse longer texts.")
@click.option("--state", metavar="FILE", help="With --corpus: save here, and go on from here.")
@click.option("--top", type=Whole(1), default=10, show_default=True, help="Lines shown.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write all heads as JSON.")
def heads(model: str, text: str | None, **given: Any) -> None:
    """Which head of MODEL does what: its kind, by the scores of 'regard docs heads'.

    MODEL is an alias (minilm, smollm2), a folder, or a name on the hub.

    \b
    regard heads minilm "The animal didn't cross the street because it was too tired" \\
        --link it animal
    regard heads minilm --corpus texts.txt --state run.json --json heads.json
    regard heads ./whisper --sound seven.wav

    Several processes share a corpus: torchrun --nproc-per-node 2 -m regard heads …
    """
    options = HeadsOptions(**given)
    options.check(text)
    if options.sound is not None:
        _of_sound(model, options.sound, options)
        return
    if options.corpus is None:
        _of_text(model, read_text(text, options.file), options)
        return
    try:
        check_readable(options.corpus)
        stopped = _of_corpus(model, options.corpus, options)
    except RegardError:
        if os.environ.get("RANK", "0") == "0":
            raise
        click.get_current_context().exit(2)  # the first process says it
    if stopped:
        click.get_current_context().exit(130)


def _of_text(name: str, text: str, options: HeadsOptions) -> None:
    """All heads by one text."""
    from regard.pieces.look import LookRequest

    model, part = load_measured(name, options.part, options.target, (options.measure or "",))
    measure = options.measure or ""
    goal = options.target if measure == "gradient" else None
    request = LookRequest(part=part, link=options.link, links=0, measure=measure, goal=goal)
    found, stopped = look_at(model, text, request, options.target, options.max_tokens)
    _write(found.ranking(), options, found.scored)
    if stopped:
        exit_stopped(found)


def _of_sound(name: str, file: str, options: HeadsOptions) -> None:
    """The heads of a decoder's cross-attention, by how they align its words with the sound."""
    from regard.inside.find import find

    files = find(name)
    from regard.inside.heads.timing import time_heads
    from regard.inside.soundmodel import load_sound_model
    from regard.views.terminal.console import make_console
    from regard.views.terminal.timing import print_timings

    with noted():
        model = load_sound_model(files)
        if not model.has_both:
            raise RegardError(
                f"{name!r} has no decoder, whose words could be aligned with a sound: --sound is "
                "for Whisper here"
            )
        heard = model.read(file)
        found = time_heads(model, heard, model.target(options.target))
    if options.json_to:
        content = json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False)
        write_json(content, options.json_to)
    if options.json_to != "-":
        print_timings(found, make_console(), options.top)
        say_written(options.json_to)


def _of_corpus(name: str, corpus: str, options: HeadsOptions) -> bool:
    """All heads by a corpus; whether Ctrl-C ended it. Only the first process talks to the user."""
    from regard.train.run.distributed import joined
    from regard.train.run.stop import stopping

    with joined("cpu") as world, stopping() as stop:
        first: list[TextModel] = []
        world.from_main(lambda: first.append(load_model(name)))  # fetches it before the others
        model = first[0] if first else load_model(name)
        if read_part(model, options.part, None) not in ("", "encoder"):
            raise RegardError("over a corpus only the encoder is read: leave out --part")
        from regard.inside.heads.corpus import rank_corpus

        with noted(), CorpusProgress(corpus, shown=world.main) as progress:
            done = rank_corpus(
                model,
                corpus,
                world,
                link=options.link,
                most=options.max_tokens,
                state_file=options.state,
                progress=progress,
                stop=stop,
            )
        if world.main:
            _say(done, stop.is_set(), model, options)
            _write(done.sums.heads(model.name, options.link is not None), options)
        return stop.is_set()


def _say(done: CorpusState, stopped: bool, model: TextModel, options: HeadsOptions) -> None:
    """What was read, what was left out, how to go on."""
    sums, state = done.sums, options.state
    if sums.texts == 0 and not stopped:
        raise DataError("the corpus has no line that the model can read: all are empty or too long")
    said = [f"{number_of(sums.texts, 'text')}, {number_of(sums.tokens, 'token')}"]
    if sums.long:
        bound = min(n for n in (options.max_tokens, model.positions) if n is not None)
        said.append(f"{number_of(sums.long, 'line')} longer than {bound:,} tokens left out")
    if sums.empty:
        said.append(number_of(sums.empty, "empty line"))
    if done.setting["link"]:
        said.append(f"{number_of(sums.linked, 'text')} with both words")
    click.echo("; ".join(said), err=True)
    if sums.unknown:
        are = "is" if sums.unknown == 1 else "are"
        count = f"{sums.unknown:,} of {number_of(sums.tokens, 'token')}"
        what = f"{count} {are} text that is not in the vocabulary"
        also = f"of {model.title}, such as {listed(sums.strange)}: use a model that reads bytes"
        click.echo(f"regard: note: {what} {also}, such as smollm2", err=True)
    if stopped:
        how = f"go on with --state {state}" if state else "with --state FILE it could go on"
        click.echo(f"regard: stopped after line {done.lines:,}; {how}", err=True)


def _write(found: Heads, options: HeadsOptions, scored: str = "") -> None:
    from regard.views.terminal.console import make_console
    from regard.views.terminal.heads import print_heads

    json_to = options.json_to
    if json_to:
        content = found.to_json(options.kind)
        content |= {"measure": options.measure} if options.measure else {}
        content |= {"y": scored} if scored else {}
        write_json(json.dumps(content, ensure_ascii=False, allow_nan=False), json_to)
    if json_to != "-":
        kind, link = options.kind, options.link
        console = make_console()
        measure = options.measure or ""
        print_heads(found, console, kind=kind, link=link, shown=options.top, measure=measure)
        if options.measure:
            from regard.pieces.measures import told

            y = f" Here y is {scored}." if scored else ""
            console.print(f"{told(options.measure)}{y}", style="yellow", markup=False)
        say_written(json_to)


class CorpusProgress:
    """Lines and tokens that were read, the time that is left, and an estimate at the start."""

    def __init__(self, path: str, shown: bool) -> None:
        self.path = path
        self.progress = CommandProgress("reading", self._line, shown=shown)
        self.start = self.last = time.monotonic()
        self.first: float | None = None
        self.left = 0.0
        self.estimated = False

    def __enter__(self) -> CorpusProgress:
        self.progress.__enter__()
        return self

    def __exit__(self, *failure: object) -> None:
        self.progress.__exit__(*failure)

    def __call__(self, state: CorpusState, share: float) -> None:
        now = time.monotonic()
        if self.first is None:  # what a state has read before took no time now
            self.first, self.start = share, now
        spent, gone = now - self.start, share - self.first
        self.left = spent / gone * (1 - share) if gone > 0 else 0.0
        if not self.estimated and spent > 2 and gone > 0:
            self.estimated = True
            self.progress.note(self._estimate())
        self.progress(
            share, f"{number_of(state.lines, 'line')}, {number_of(state.sums.tokens, 'token')}"
        )

    def _line(self, share: float, what: str) -> str | None:
        if time.monotonic() - self.last < PATIENCE:
            return None
        self.last = time.monotonic()
        return f"{share:.0%}: {what}, {_clock(self.left)} left"

    def _estimate(self) -> str:
        import resource
        import sys

        from regard.cost.units import in_bytes

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        peak *= 1 if sys.platform == "darwin" else 1024
        return (
            f"about {_clock(self.left)} for the rest of {os.path.basename(self.path)}; memory does "
            f"not grow with it, {in_bytes(peak)} so far with the model"
        )


def _clock(seconds: float) -> str:
    from regard.train.run.progress import format_seconds

    return format_seconds(seconds)
