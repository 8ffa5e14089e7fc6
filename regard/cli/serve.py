"""``regard serve``: the page from a server on this machine."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.model import load_any, load_models
from regard.cli.shared.numbers import Whole
from regard.errors import MissingExtraError, RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.inside.textmodel import TextModel


@click.command()
@click.argument("models", nargs=-1, metavar="[MODEL]...")
@click.option("--port", type=Whole(0, 65535), default=8765, show_default=True)
@click.option(
    "--max-tokens",
    type=Whole(1),
    default=8192,
    show_default=True,
    help="Refuse longer texts.",
)
@click.option("--open", "open_it", is_flag=True, help="Open it in the browser.")
def serve(models: tuple[str, ...], port: int, max_tokens: int, open_it: bool) -> None:
    """Explore texts with MODELs (minilm unless named) in a browser on this machine.

    Only this machine can reach it, and only these models can be used. Ctrl-C ends it.

    \b
    regard serve
    regard serve minilm smollm2 --port 9000
    """
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise MissingExtraError("regard serve", "starlette", "uvicorn") from error
    listening = _bound(port)  # a port that is taken, a name that is none: before torch is imported
    loaded = _loaded(models or ("minilm",))
    from regard.web.app import make_app
    from regard.web.connection import Connection

    number = listening.getsockname()[1]
    hosts = {f"{name}:{number}" for name in ("127.0.0.1", "localhost")}
    app = make_app(loaded, max_tokens, hosts)
    settings = uvicorn.Config(
        app,
        log_level="warning",
        http=Connection,
        limit_concurrency=512,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=3,
        ws="none",
        server_header=False,
    )
    address = f"http://127.0.0.1:{number}/"
    click.echo(f"{', '.join(map(visible, loaded))} at {address} (Ctrl-C ends it)")
    if open_it:
        click.launch(address)
    _run(uvicorn.Server(settings), listening)
    click.echo("regard: ended", err=True)


def _loaded(names: tuple[str, ...]) -> dict[str, TextModel]:
    """With what they predict, where transformers can tell; those of regard's own too."""
    from regard.store.shipped import is_own

    others = [name for name in names if not is_own(name)]
    known = load_models(*others, predicts=find_spec("transformers") is not None)
    return {name: known[name] if name in known else load_any(name) for name in names}


def _run(server: Any, listening: socket.socket) -> None:
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:  # uvicorn hands the signal on after it has closed everything
        pass
    finally:
        listening.close()


def _bound(port: int) -> socket.socket:
    """A socket of the loopback interface alone."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(128)  # from now on connections wait until the server takes them
    except OSError as error:
        listening.close()
        raise RegardError(
            f"port {port} cannot be used ({error.strerror}): another program has it; choose "
            "another with --port, or --port 0 for any that is free"
        ) from error
    return listening
