"""The ``regard`` command: one thin file per subcommand, imported only when it is the one asked for.

torch takes a second to import and ``regard --help`` must answer at once, so nothing here, nor at
the top of a command's file, imports torch, transformers, gensim or matplotlib.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from importlib import import_module

import click

from regard import __version__
from regard.errors import RegardError, nearest
from regard.text import visible

COMPLETE = "_REGARD_COMPLETE"
"""The environment variable by which a shell asks for completions."""
YOUNG = 10_000
"""Objects made between two searches for garbage; with Python's 700 all of torch is searched."""
COMMANDS = {
    "ablate": "What changes in the output if a head, a link or a word is taken away.",
    "check": "Check the numbers of a worked example.",
    "cost": "Time and memory of attention and recurrence as the text grows.",
    "docs": "Read a page of the documentation.",
    "doctor": "Which kernel computes attention here, and what is installed.",
    "evaluate": "Score a trained model on text it has not seen.",
    "explain": "Show every step of attention for one word, with the real numbers.",
    "export": "Write a trained model for another library.",
    "heads": "Which head of a real model does what, in one text or a corpus.",
    "learn": "Learn attention: a course that runs its samples and checks its exercises.",
    "live": "A page that carries models and runs them in the browser, offline.",
    "look": "What every head of a real model does with a text.",
    "read": "Read a sentence word by word and show what each word attends to.",
    "serve": "Explore texts with a model in a browser on this machine.",
    "train": "Train a model on your own data.",
    "translate": "Translate sentences and show what each word looked at.",
    "words": "Train, load and look into word vectors.",
}


class Commands(click.Group):
    """Subcommands by name; each lives in ``regard.cli.<name>`` as the function ``<name>``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS and ctx.resilient_parsing:
            return None
        if name not in COMMANDS:
            known = ", ".join(sorted(COMMANDS))
            ctx.fail(f"there is no command {name!r}{nearest(name, COMMANDS)} (known: {known})")
        command: click.Command = getattr(import_module(f"regard.cli.{name}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="regard")
def regard() -> None:
    """See, run, check and train attention, with the real numbers.

    'regard COMMAND --help' says what a command takes.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command. A mistake of the user's is one line on stderr and exit code 2."""
    gc.set_threshold(YOUNG, *gc.get_threshold()[1:])
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started it (>&-): nobody listens
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that cannot show a character gets a ?
            stream.reconfigure(errors="replace")
    try:
        code = exit_code(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # a second one, or while the last line was written
        code = 130
    sys.exit(code)


def exit_code(arguments: list[str]) -> int:
    """Run the command, and say in one line what ended it."""
    try:
        if COMPLETE in os.environ:
            return complete(os.environ[COMPLETE])
        return run(arguments)
    except click.ClickException as error:
        return fail(error.format_message())
    except RegardError as error:
        return fail(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("regard: stopped", err=True)
        return 130
    except BrokenPipeError:  # `regard … | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # what a shell reports of a program that a closed pipe ended
    except OSError as error:  # of a file that no command had thought of
        named = f": {error.filename!r}" if error.filename else ""
        return fail(f"{error.strerror or error}{named}")
    except MemoryError as error:
        return fail(f"there is not enough memory for this {error}")


def run(arguments: list[str]) -> int:
    """The command's exit code. Not click's own ``main``, which makes a closed pipe exit code 1."""
    try:
        with regard.make_context("regard", arguments) as context:
            regard.invoke(context)
            sys.stdout.flush()
    except click.exceptions.Exit as done:
        sys.stdout.flush()
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        click.echo(help_wanted.format_message())
    return 0


def complete(instruction: str) -> int:
    """Answer a shell that completes a line, or print what makes it ask (``bash_source``)."""
    from click.shell_completion import shell_complete

    return shell_complete(regard, {}, "regard", COMPLETE, instruction)


def fail(message: str) -> int:
    """Print one line that says what is wrong; the exit code for it."""
    click.echo(f"regard: error: {visible(message)}", err=True)
    return 2
