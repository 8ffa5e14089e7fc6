"""``regard read``: a model reads a sentence, and shows what each word attends to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from regard.errors import RegardError

if TYPE_CHECKING:
    from rich.console import Console

    from regard.models.reading import SentenceReading, Verdict


@click.command()
@click.argument("sentences", nargs=-1)
@click.option(
    "--model",
    default="lstmn",
    show_default=True,
    metavar="NAME|FOLDER",
    help="A language model that comes with regard, or a run folder of your own.",
)
@click.option("--file", metavar="FILE", help="Read its lines; - is standard input.")
@click.option("--layer", type=int, help="This layer's attention, from 0; else the last one's.")
@click.option("--head", type=int, help="Transformer: this head's, from 0; else their mean.")
@click.option("--all", "everything", is_flag=True, help="Every layer and head, one by one.")
@click.option("--json", "json_to", metavar="FILE|-", help="One trace a sentence, as JSON.")
@click.option("--html", "html_to", metavar="FILE", help="A page of one sentence (docs/page.md).")
@click.option("--trace", "trace_to", metavar="FILE", help="Every step of one sentence, as JSON.")
def read(
    sentences: tuple[str, ...],
    model: str,
    file: str | None,
    layer: int | None,
    head: int | None,
    everything: bool,
    json_to: str | None,
    html_to: str | None,
    trace_to: str | None,
) -> None:
    """Read SENTENCES, word by word, and show what each new word attends to.

    \b
    regard read "The FBI is chasing a criminal on the run ."
    regard read --model simple-rnn+attention "Tom said that he was tired."
    regard read --model runs/reviews "a gripping film"

    Each line is one more word: the bits that it was unexpected by, and the words read so far with
    the attention that the new word gives them, in hundredths. A classifier shows its label and the
    words that it decided by.
    """
    from regard.cli.shared.input import texts_of

    texts = texts_of(sentences, file, "read")
    if everything and (layer is not None or head is not None):
        raise RegardError("--all shows every layer and head: leave --layer and --head out")
    for option, path in (("--trace", trace_to), ("--html", html_to)):
        if path is not None and len(texts) != 1:
            raise RegardError(f"{option} takes one sentence, got {len(texts)}")
    accounts = _accounts(model, texts)
    if html_to is not None:
        accounts = iter([_write_page(next(accounts), html_to, texts[0], quietly=json_to == "-")])
    if trace_to is not None:
        only = list(accounts)
        only[0].trace.save(trace_to)
        accounts = iter(only)
    if json_to is not None:
        _write_json(accounts, json_to)
        return
    from regard.models.reading import SentenceReading
    from regard.views.terminal.console import make_console

    console = make_console()
    for number, account in enumerate(accounts):
        if number:
            click.echo()
        if isinstance(account, SentenceReading):
            _print_account(account, console, layer, head, everything)
        else:
            _print_verdict(account, console)


def _write_page(
    account: SentenceReading | Verdict, to: str, text: str, quietly: bool
) -> SentenceReading | Verdict:
    from regard.cli.shared.output import write_page
    from regard.views.page import subject_of_trace

    subject = subject_of_trace(account.trace, text, model=account.model, start={"view": "reading"})
    if not subject.sheets:
        raise RegardError(f"{account.model} has no attention, and a page shows attention")
    write_page(to, subject, quietly=quietly)
    return account


def _accounts(name: str, texts: list[str]) -> Iterator[SentenceReading | Verdict]:
    """Each text as the model of that name or folder reads it; empty lines are left out."""
    from regard.models.reading import judge_sentence, read_sentence
    from regard.store.folder import RunFolder, load_classifier, load_language_model
    from regard.store.shipped import find_folder

    folder = find_folder(name, "lm")
    task = RunFolder(folder).read_config().get("task")
    wanted = [text for text in texts if text.strip()]
    if not wanted:
        raise RegardError("there is nothing to read: the text is empty or all white space")
    if task == "classify":
        classifier, tokens = load_classifier(folder)
        return (judge_sentence(classifier, tokens, text) for text in wanted)
    if task != "lm":
        raise RegardError(
            f"{name!r} holds a {task!r} run: 'regard read' takes a language model or a classifier"
        )
    model, tokens = load_language_model(folder)
    return (read_sentence(model, tokens, text) for text in wanted)


def _print_account(
    account: SentenceReading,
    console: Console,
    layer: int | None,
    head: int | None,
    everything: bool,
) -> None:
    from regard.views.terminal.reading import print_reading

    layers, heads = account.attention.shape[:2]
    if not layers:
        if layer is not None or head is not None or everything:
            raise RegardError(f"{account.model} has no attention: it has no layer or head to show")
        click.echo(f"{account.model} has no attention: how unexpected each word was")
        print_reading(account.words, account.surprisal, None, console)
    elif everything:
        for k in range(layers):
            for h in range(heads):
                click.echo(_title(account, k, h if heads > 1 else None))
                print_reading(account.words, account.surprisal, account.weights(k, h), console)
                click.echo()
    else:
        weights = account.weights(layer, head)
        click.echo(_title(account, layers - 1 if layer is None else layer, head))
        print_reading(account.words, account.surprisal, weights, console)
    click.echo(f"{account.end:5.1f}  end of sentence; perplexity {account.perplexity:.1f} per word")
    _print_unknown(account.unknown)


def _title(account: SentenceReading, layer: int, head: int | None) -> str:
    layers, heads = account.attention.shape[:2]
    where = [f"layer {layer}"] if layers > 1 else []
    if heads > 1:
        where.append(f"mean of {heads} heads" if head is None else f"head {head}")
    place = f" ({', '.join(where)})" if where else ""
    return f"{account.model}: what each word attends to, in hundredths{place}"


def _print_verdict(verdict: Verdict, console: Console) -> None:
    from regard.text import visible
    from regard.views.terminal.reading import print_weighted

    ranked = sorted(zip(verdict.probabilities, verdict.labels, strict=True), reverse=True)
    click.echo("  ".join(f"{visible(label)} {100 * p:.1f} %" for p, label in ranked[:8]))
    print_weighted(verdict.words, verdict.weights, console)
    _print_unknown(verdict.unknown)


def _print_unknown(words: list[str]) -> None:
    from regard.views.terminal.words import listed

    if words:
        click.echo(f"not in the model's vocabulary: {listed(words)}")


def _write_json(accounts: Iterator[Any], to: str) -> None:
    lines = (account.summary().to_json() for account in accounts)
    if to == "-":
        for line in lines:
            click.echo(line)
        return
    from regard.files import write_text

    write_text(to, "".join(f"{line}\n" for line in lines))
