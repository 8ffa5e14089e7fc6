"""``regard ablate``: what changes in a model's output if a head, a link or a word is taken away."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.input import read_text
from regard.cli.shared.model import PARTS, load_model, noted
from regard.cli.shared.numbers import Whole
from regard.cli.shared.output import check_outputs, say_written, write_json
from regard.cli.shared.progress import counted
from regard.errors import DataError, RegardError
from regard.files import STDIN, check_readable
from regard.text import number_of

if TYPE_CHECKING:
    from regard.inside.ablate.corpus import ImportanceState
    from regard.inside.ablate.loading import TrialOf
    from regard.inside.ablate.request import AblationRequest
    from regard.pieces.ablation import Ablation

METRICS = ["probability", "logprob", "cosine"]
EACH = ["heads", "layers", "words", "links"]
PROBE = "a [MASK] <mask>"
"""A text that every model can read, to see what kind of model it is."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Size(click.ParamType):  # type: ignore[type-arg]
    """Bytes, as ``512M`` or ``2G``."""

    name = "SIZE"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if isinstance(value, int):
            return value
        text = str(value).strip().upper().removesuffix("B")
        unit = text[-1:] if text[-1:] in ("K", "M", "G") else ""
        digits = text.removesuffix(unit) if unit else text
        if not digits.isdecimal() or int(digits) == 0:
            self.fail(f"a size is a whole number with K, M or G, such as 512M, got {value!r}")
        return int(digits) * UNITS[unit]


@dataclass(frozen=True)
class AblateOptions:
    """The command's options, as click names them."""

    file: str | None
    corpus: str | None
    state: str | None
    png: str | None
    svg: str | None
    head: tuple[str, ...]
    layer: int | None
    link: tuple[str, str] | None
    word: str | None
    each: str | None
    part: str | None
    target: str | None
    metric: str | None
    by: str
    renormalise: bool
    estimate: bool
    memory: int
    seed: int
    max_tokens: int | None
    top: int
    json_to: str | None
    user: str | None
    history: str | None

    def check_user(self, text: str | None) -> None:
        """Of a history every item is erased in turn, and nothing else can be named."""
        others = (text, self.file, self.corpus, self.state, self.png, self.svg, self.layer)
        named = (self.link, self.word, self.each, self.part, self.metric, self.max_tokens)
        if any(one is not None for one in (*others, *named)) or self.head or self.estimate:
            raise RegardError(
                "--user erases each item of a history: of the other options it takes --history, "
                "--target, --top, --json"
            )

    def check(self) -> None:
        """What is wrong with the options alone is said before a model is loaded."""
        files = {"json": self.json_to, "state": self.state, "png": self.png, "svg": self.svg}
        check_outputs(self.file, self.corpus, self.history, **files)
        if self.history is not None and self.user is None:
            raise RegardError("--history goes with --user, whose history is read")
        if self.corpus is None:
            alone = {"--state": self.state, "--png": self.png, "--svg": self.svg}
            if wrong := [option for option, value in alone.items() if value is not None]:
                raise RegardError(f"{wrong[0]} goes with --corpus")
        named = {"--link": self.link, "--word": self.word}
        given = [option for option, value in named.items() if value is not None]
        if len(given) > 1:
            raise RegardError("take away a --link or a --word, not both")
        if self.each is not None and (given or (self.head and self.each != "links")):
            raise RegardError(
                f"--each {self.each} takes everything of a kind away in turn: leave out "
                f"{given[0] if given else '--head'}"
            )
        if self.layer is not None and (self.head or self.each):
            raise RegardError("--layer stands for all its heads: leave out --head and --each")
        if not self.renormalise and not (given or self.each in ("words", "links")):
            raise RegardError("--no-renormalise is about masked links and words: name one")

    def check_corpus(self, text: str | None) -> None:
        """Over a corpus every head is removed in turn, and nothing else can be named."""
        if self.corpus == STDIN and self.state is not None:
            raise RegardError("--state goes on in a file, and standard input cannot be read again")
        others = (text, self.file, self.link, self.word, self.each, self.layer, self.target)
        if any(one is not None for one in others) or self.head or self.estimate:
            raise RegardError(
                "--corpus removes every head from every line: give it no TEXT, and nothing to take "
                "away or to measure"
            )

    def request(self) -> AblationRequest:
        from regard.inside.ablate.request import AblationRequest
        from regard.inside.ablate.variant import parse_head

        return AblationRequest(
            tuple(parse_head(text) for text in self.head),
            self.layer,
            self.link,
            self.word,
            self.each,
            self.part,
            self.metric,
            self.by,
            self.renormalise,
            self.estimate,
            self.memory,
            self.seed,
        )


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="Read the text from a file; - is standard input.")
@click.option("--corpus", metavar="FILE", help="Instead: every head over many texts, one a line.")
@click.option("--state", metavar="FILE", help="With --corpus: save here, and go on from here.")
@click.option("--png", metavar="FILE", help="With --corpus: a picture of all heads.")
@click.option("--svg", metavar="FILE", help="The same as vectors.")
@click.option("--head", multiple=True, metavar="L.H", help="Remove this head; several together.")
@click.option("--layer", type=Whole(0), help="Remove all heads of a layer.")
@click.option("--link", nargs=2, metavar="FROM TO", help="Mask the link from a word to another.")
@click.option("--word", metavar="WORD", help="Let nobody look at this word.")
@click.option(
    "--each", type=click.Choice(EACH), help="Everything of a kind in turn; every head if not said."
)
@click.option("--part", type=click.Choice(PARTS), help="Of a model with encoder and decoder.")
@click.option("--target", metavar="WORD", help="The word, label or translation to measure.")
@click.option("--metric", type=click.Choice(METRICS), help="What is measured.")
@click.option(
    "--by",
    type=click.Choice(["zero", "mean"]),
    default="zero",
    show_default=True,
    help="What stands for a removed head: zeros, or its mean over the text.",
)
@click.option(
    "--renormalise/--no-renormalise",
    default=True,
    help="Whether the other weights of a masked row grow.",
)
@click.option("--estimate", is_flag=True, help="Estimate all heads by one backward pass.")
@click.option(
    "--memory", type=Size(), default="1G", show_default=True, help="For one batch of variants."
)
@click.option("--seed", type=Whole(0), default=1, show_default=True, help="Of random draws.")
@click.option("--max-tokens", type=Whole(1), metavar="N", help="Refuse longer texts.")
@click.option("--top", type=Whole(1), default=10, show_default=True, help="Lines shown.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write all effects as JSON.")
@click.option("--user", metavar="USER", help="With a recommender: erase each item of a user.")
@click.option("--history", metavar="FILE", help="Of this table, not of the one it was trained on.")
def ablate(model: str, text: str | None, **given: Any) -> None:
    """What changes in the output of MODEL if a head, a link or a word is taken away?

    MODEL is an alias (minilm, smollm2), a folder, a name on the hub, or a model that comes with
    regard (transformer, bahdanau, …).

    \b
    regard ablate minilm "The animal didn't cross the street because it was too tired"
    regard ablate smollm2 "The capital of France is" --word France
    regard ablate transformer "Ich habe keine Zeit." --part cross
    regard ablate runs/items --user 7
    regard ablate minilm --corpus texts.txt --state run.json --png heads.png

    Several processes share a corpus: torchrun --nproc-per-node 2 -m regard ablate …
    """
    options = AblateOptions(**given)
    options.check()
    if options.user is not None:
        options.check_user(text)
        from regard.cli.shared.history import opened
        from regard.inside.historyreading import depend

        found = depend(*opened(model, options.user, options.history), options.target)
        _write(found, options)
        return
    if options.corpus is not None:
        options.check_corpus(text)
        _of_corpus(model, options.corpus, options)
        return
    content = read_text(text, options.file)
    from regard.inside.ablate.ablate import ablate as measure

    request = options.request()
    trial = reading(model, options.max_tokens)(content, options.target)
    with noted(), counted("measuring") as progress:
        found = measure(trial, request, progress)
    _write(found, options)


def reading(name: str, most: int | None) -> TrialOf:
    """The model, loaded, ready for texts."""
    from regard.inside.ablate.loading import own_reading, text_reading
    from regard.store.shipped import is_own

    if is_own(name):
        return own_reading(name)
    return text_reading(load_model(name, predicts=True), most)


def _of_corpus(name: str, corpus: str, options: AblateOptions) -> None:
    """Every head by a corpus. Only the first process talks to the user."""
    from regard.train.run.distributed import joined
    from regard.train.run.stop import stopping

    check_readable(corpus)
    if options.png or options.svg:
        from regard.views.picture.file import check_picture

        check_picture()
    with joined("cpu") as world, stopping() as stop:
        first: list[TrialOf] = []
        world.from_main(lambda: first.append(reading(name, options.max_tokens)))
        read = first[0] if first else reading(name, options.max_tokens)
        from regard.cli.heads import CorpusProgress
        from regard.inside.ablate.corpus import EffectReader, check_corpus, rank_by_effect
        from regard.inside.heads.corpus import size_of

        trial = read(PROBE, None)
        part, metric = check_corpus(trial, options.part, options.metric)
        reader = EffectReader(read, part, metric, options.by, options.memory)
        with noted(), CorpusProgress(corpus, shown=world.main) as progress:
            done = rank_by_effect(
                trial.title,
                size_of(trial.network),
                reader,
                corpus,
                world,
                state_file=options.state,
                progress=progress,
                stop=stop,
            )
        if world.main:
            _tell(done, stop.is_set(), options)
    if stop.is_set():
        click.get_current_context().exit(130)


def _tell(done: ImportanceState, stopped: bool, options: AblateOptions) -> None:
    from regard.views.picture.importance import save_importance
    from regard.views.terminal.ablation import print_importance
    from regard.views.terminal.console import make_console

    sums = done.sums
    if sums.long or sums.empty:
        said = (
            f"{number_of(sums.long, 'line')} that cannot be read and {sums.empty:,} empty left out"
        )
        click.echo(f"regard: note: {said}", err=True)
    if stopped:
        how = f"go on with --state {options.state}" if options.state else "with --state it could"
        click.echo(f"regard: stopped after line {done.lines:,}; {how}", err=True)
    if not sums.texts:
        raise DataError("the corpus has no line that the model can read")
    found = done.importance()
    for kind, path in (("png", options.png), ("svg", options.svg)):
        if path is not None:
            save_importance(found, path, kind)
    if options.json_to:
        content = json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False)
        write_json(content, options.json_to)
    if options.json_to != "-":
        print_importance(found, make_console(), options.top)
    say_written(options.json_to, options.png, options.svg, quietly=options.json_to == "-")


def _write(found: Ablation, options: AblateOptions) -> None:
    from regard.views.terminal.ablation import print_ablation
    from regard.views.terminal.console import make_console

    if options.json_to:
        content = json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False)
        write_json(content, options.json_to)
    if options.json_to != "-":
        print_ablation(found, make_console(), options.top)
        say_written(options.json_to)
