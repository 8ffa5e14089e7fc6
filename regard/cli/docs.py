"""``regard docs``: the documentation, wherever regard is installed."""

from __future__ import annotations

from pathlib import Path

import click

from regard.errors import RegardError, nearest

PACKAGE = Path(__file__).parents[1]


@click.command()
@click.argument("page", required=False)
def docs(page: str | None) -> None:
    """Print a PAGE of the documentation (Markdown), or name the pages."""
    known = pages()
    if page is None:
        for name, path in known.items():
            title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
            click.echo(f"{name:<14}{title}")
    elif page in known:
        click.echo(known[page].read_text(encoding="utf-8"), nl=False)
    else:
        raise RegardError(
            f"there is no page {page!r}{nearest(page, known)} ('regard docs' names them all)"
        )


def pages() -> dict[str, Path]:
    """Each page by its name: in the package, where a wheel has them, or else in the checkout."""
    inside, beside = PACKAGE / "docs", PACKAGE.parent / "docs"
    return {
        path.stem: path for path in sorted((inside if inside.is_dir() else beside).glob("*.md"))
    }
