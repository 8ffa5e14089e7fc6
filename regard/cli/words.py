"""``regard words``: train word vectors, and look into files of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.output import check_outputs, write_json
from regard.cli.shared.progress import counted
from regard.text import listed, number_of, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

    from regard.vectors.words import Words

FORMATS = ["auto", "glove", "word2vec", "word2vec-binary", "fasttext"]

as_json = click.option(
    "--json", "json_to", metavar="FILE|-", help="Write the result as JSON; - prints it."
)


def reads_vectors(command: Callable[..., None]) -> Callable[..., None]:
    """The argument and the options of every command that reads a file of vectors."""
    for option in (
        as_json,
        click.option("--encoding", default="utf-8", show_default=True, help="Of the words."),
        click.option(
            "--format",
            type=click.Choice(FORMATS),
            default="auto",
            show_default=True,
            help="Of the file; auto looks at its content.",
        ),
        click.argument("file", type=click.Path()),
    ):
        command = option(command)
    return command


@click.group()
def words() -> None:
    """Train, load and look into word vectors.

    Files may be GloVe text, word2vec text or binary, or fastText .vec, plain or gzip; - is standard
    input.
    """


@words.command()
@click.argument("text_file", type=click.Path())
@click.option("-o", "--out", required=True, help="Where to: .txt or .vec, .bin; then .gz or not.")
@click.option("--width", default=100, show_default=True, help="Numbers in a vector.")
@click.option("--window", default=5, show_default=True, help="Neighbours on either side.")
@click.option("--min-count", default=5, show_default=True, help="Leave out rarer words.")
@click.option("--cbow/--skip-gram", default=True, help="The algorithm; CBOW if not said.")
@click.option("--seed", default=1, show_default=True, help="Same seed, same vectors.")
@click.option("--epochs", default=5, show_default=True, help="Times to go over the text.")
@click.option("--sample", default=1e-3, show_default=True, help="Skip frequent words; 0: none.")
@click.option("--negative", default=5, show_default=True, help="Wrong words for each right one.")
@click.option("--keep-case", is_flag=True, help="Do not lower-case the text.")
@click.option("--spaces", is_flag=True, help="Words are already apart: cut at white space only.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of the text.")
@as_json
def train(
    text_file: str,
    out: str,
    cbow: bool,
    keep_case: bool,
    encoding: str,
    json_to: str | None,
    **settings: Any,
) -> None:
    """Train Word2Vec on TEXT_FILE (- is standard input), one sentence a line."""
    from regard.vectors import word2vec

    check_out(text_file, out, json_to)
    with counted("training") as report:
        done = word2vec.train(
            text_file,
            algorithm="cbow" if cbow else "skipgram",
            lower=not keep_case,
            encoding=encoding,
            progress=report,
            **settings,
        )
    done.words.save(out)
    named = ", ".join(f"{key.replace('_', '-')} {value}" for key, value in done.settings.items())
    lines = [
        f"Text: {number_of(done.sentences, 'sentence')}, {number_of(done.text_words, 'word')}, of "
        f"which {done.kept_words:,} are the {number_of(len(done.words), 'different word')} kept.",
        f"Settings: {named}.",
        f"Trained on {done.trained:,} of {number_of(done.offered, 'word')} over all epochs.",
        done.verdict,
        f"Written: {visible(out)}",
    ]
    if done.cut_lines:
        were = "was" if done.cut_lines == 1 else "were"
        cut = f"{number_of(done.cut_lines, 'line')} longer than 10,000 words"
        lines.insert(1, f"{cut} {were} trained in parts.")
    answer(lines, done.to_json() | {"out": out}, json_to)


def check_out(text_file: str, out: str, json_to: str | None) -> None:
    """What can be known to be wrong with ``out`` is said before an hour of training."""
    from regard.errors import FileError
    from regard.vectors.save import save_format

    save_format(out)
    check_outputs(out=out, json=json_to)
    if os.path.exists(out) and os.path.exists(text_file) and os.path.samefile(out, text_file):
        raise FileError(f"the vectors would replace the text {text_file!r}; give another --out")


@words.command()
@reads_vectors
@click.argument("word")
@click.option("-k", default=10, show_default=True, help="How many.")
def nearest(file: str, format: str, encoding: str, json_to: str | None, word: str, k: int) -> None:
    """The words of FILE nearest to WORD, by cosine."""
    from regard.views.terminal.words import near_table

    loaded = load(file, format, encoding, json_to)
    found, lines = entry(loaded, word)
    near = loaded.nearest(found, k)
    lines.append(f"Nearest to '{visible(found)}' among {number_of(len(loaded), 'word')}:")
    result = {
        "word": found,
        "nearest": [{"word": w, "cosine": c} for w, c in near],
        "untrained": loaded.within_start,
    }
    answer([*lines, near_table(near), *untrained(loaded)], result, json_to)


@words.command()
@reads_vectors
@click.argument("text")
def sentence(file: str, format: str, encoding: str, json_to: str | None, text: str) -> None:
    """TEXT as one vector: the average of its words' vectors in FILE."""
    from regard.views.terminal.words import format_vector

    loaded = load(file, format, encoding, json_to)
    made = loaded.sentence(text)
    known, unknown = len(made.found), len(made.unknown)
    lines = [f"Known ({known} of {known + unknown}): {listed(made.known, 200)}"]
    if made.lowered:
        names = listed(f.token for f in made.lowered)
        lines.append(f"Found in lower case only ({len(made.lowered)}): {names}")
    if made.unknown:
        lines.append(f"Unknown, not in the average ({unknown}): {listed(made.unknown)}")
    lines += [
        f"Average of {number_of(known, 'vector')}, width {loaded.width}:",
        format_vector(made.vector),
    ]
    result = {
        "known": [{"token": f.token, "word": f.word} for f in made.found],
        "unknown": list(made.unknown),
        "vector": made.vector.tolist(),
        "untrained": loaded.within_start,
    }
    answer([*lines, *untrained(loaded)], result, json_to)


@words.command()
@reads_vectors
@click.argument("word", required=False)
def show(file: str, format: str, encoding: str, json_to: str | None, word: str | None) -> None:
    """What FILE holds; with WORD, that word's vector."""
    from regard.views.terminal.words import format_vector

    loaded = load(file, format, encoding, json_to)
    lines: list[RenderableType]
    if word is None:
        lines = [
            f"Format: {loaded.format}",
            f"Words:  {len(loaded):,}",
            f"Width:  {loaded.width}",
            f"First:  {listed(loaded.words[:10])}",
        ]
        result: dict[str, Any] = {"words": len(loaded), "first": loaded.words[:10]}
    else:
        found, notes = entry(loaded, word)
        vector, norm = loaded[found], float(loaded.norms[loaded.index[found]])
        title = f"'{visible(found)}': row {loaded.index[found] + 1:,} of {len(loaded):,}"
        lines = [*notes, f"{title}, width {loaded.width}, norm {norm:.6g}", format_vector(vector)]
        result = {"word": found, "norm": norm, "vector": vector.tolist()}
    result |= {"format": loaded.format, "width": loaded.width, "untrained": loaded.within_start}
    answer([*lines, *untrained(loaded)], result, json_to)


def load(file: str, format: str, encoding: str, json_to: str | None) -> Words:
    """Load, with progress; words that come again in the file are told of on stderr."""
    check_outputs(file, json=json_to)
    from regard.vectors.words import Words

    with counted("loading") as report:
        loaded = Words.load(file, format, encoding=encoding, progress=report)
    if loaded.repeated:
        names = listed(loaded.repeated, 5)
        count = len(loaded.repeated)
        what = (
            "1 row repeats a word and was left out, the first kept"
            if count == 1
            else f"{count:,} rows repeat a word and were left out, the first kept"
        )
        click.echo(f"regard: note: {what}: {names}", err=True)
    return loaded


def entry(loaded: Words, word: str) -> tuple[str, list[RenderableType]]:
    """The vocabulary's word for what the user typed, and a line if only lower case was found."""
    found = loaded.find(word)
    if found is None:
        raise loaded.unknown(word)
    lower = f"'{visible(word)}' is not there; its lower case '{visible(found.word)}' is."
    return found.word, [lower] if found.lowered else []


def untrained(loaded: Words) -> list[str]:
    """A line that warns of vectors that mean nothing."""
    bound = f"no value in the file lies beyond ±1/{loaded.width}, the range of the random vectors"
    line = f"These look untrained: {bound} with which Word2Vec starts."
    return [line] if loaded.within_start else []


def answer(lines: list[Any], result: dict[str, Any], json_to: str | None) -> None:
    """Print for a reader, write JSON, or print JSON alone."""
    from regard.views.terminal.console import make_console

    if json_to != "-":
        console = make_console()
        for line in lines:
            console.print(line)
    if json_to:
        write_json(json.dumps(result, indent=2, allow_nan=False), json_to)
