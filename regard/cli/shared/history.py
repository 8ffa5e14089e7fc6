"""``read --user`` and ``ablate --user``: a recommender and the history of one user."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.output import check_outputs, write_json_lines, write_trace_page
from regard.text import number_of, visible

if TYPE_CHECKING:
    from regard.inside.historyreading import Recommendation
    from regard.models.language import LanguageModel
    from regard.pieces.history import Catalogue, History

RECOMMENDED = 5
LOOKED_AT = 10


def opened(
    name: str, user: str, table: str | None
) -> tuple[LanguageModel, Catalogue, History, int]:
    """The recommender called ``name``, what it knows, and the history; the items that it reads."""
    from regard.store.folder import RunFolder, load_recommender
    from regard.store.shipped import find_folder

    folder = find_folder(name)
    run = RunFolder(folder)
    model, catalogue = load_recommender(folder)
    from regard.train.tasks.recommend import user_history

    history = user_history(run, name, user, table)
    strange = [item for item in history.items if item not in catalogue]
    if strange:
        said = f"{number_of(len(strange), 'item')} that the model does not know left out"
        click.echo(f"regard: note: {said}, such as {visible(strange[0])!r}", err=True)
    return model, catalogue, history, int(run.read_config()["data"]["max_length"])


def read_user(
    name: str,
    user: str,
    table: str | None,
    layer: int | None,
    head: int | None,
    json_to: str | None,
    html_to: str | None,
) -> None:
    """Print what is recommended to a user, and which past items that looked at."""
    check_outputs(table, json=json_to, html=html_to)
    from regard.inside.historyreading import recommend

    found = recommend(*opened(name, user, table), traced=html_to is not None)
    weights = found.weights(layer, head)
    if html_to is not None:
        _write_page(html_to, found, name, layer, head, quietly=json_to == "-")
    if json_to is not None:
        content = as_dict(found, None if weights is None else weights.tolist())
        write_json_lines([json.dumps(content, ensure_ascii=False)], json_to)
        return
    _print(found, layer, head)


def _write_page(
    to: str, found: Recommendation, name: str, layer: int | None, head: int | None, *, quietly: bool
) -> None:
    """The page of a history, a row an item; it opens at the last, from which is recommended."""
    likely = list(zip(found.titles, found.probabilities, strict=True))[:RECOMMENDED]
    said = "recommended: " + ", ".join(f"{title} {100 * p:.1f} %" for title, p in likely)
    layers = len(found.attention)
    start = {
        "query": len(found.pieces) - 1,
        "layer": max(0, layers - 1) if layer is None else layer,
    }
    if head is not None:
        start["head"] = head
    title = f"user {found.history.user}"
    write_trace_page(to, found.trace, title, name, found.pieces, quietly, start, [visible(said)])


def as_dict(found: Recommendation, weights: list[float] | None) -> dict[str, Any]:
    """Plain data: what is recommended, and of each item that was read its weight."""
    recommended = zip(found.items, found.titles, found.probabilities, strict=True)
    read = range(1, len(found.pieces))
    rows = [found.pieces.places[i][0] for i in read]
    return {
        "model": found.model,
        "user": found.history.user,
        "recommended": [
            {"item": item, "title": title, "probability": p} for item, title, p in recommended
        ],
        "read": [
            {
                "item": found.history.items[row],
                "title": found.pieces.labels[i],
                "row": row + 1,
                "time": found.history.times[row],
                "weight": None if weights is None else weights[i],
            }
            for i, row in zip(read, rows, strict=True)
        ],
        "beginning": None if weights is None else weights[0],
    }


def _print(found: Recommendation, layer: int | None, head: int | None) -> None:
    from regard.views.terminal.console import make_console
    from regard.views.terminal.history import print_looked_at, print_recommended

    console, count = make_console(), len(found.pieces) - 1
    had = len(found.history.items)
    are = "is" if count == 1 else "are"
    last = f", of which the last {count} {are} read" if count < had else ""
    click.echo(f"user {visible(found.history.user)}: {number_of(had, 'item')}{last}; recommended:")
    print_recommended(found.titles[:RECOMMENDED], found.probabilities[:RECOMMENDED], console)
    weights = found.weights(layer, head)
    if weights is None:
        click.echo(f"{found.model} has no attention: 'regard ablate' says what it depends on")
        return
    rows = [place[0] for place in found.pieces.places[1:]]
    click.echo(f"looked at{_where(found, layer, head)}, in hundredths; row, time, item:")
    print_looked_at(
        found.pieces.labels[1:],
        rows,
        [found.history.times[row] for row in rows],
        weights[1:],
        console,
        LOOKED_AT,
    )
    if weights[0] >= 0.005:
        click.echo(f"{100 * weights[0]:6.1f}  on the mark of the beginning, which is no item")


def _where(found: Recommendation, layer: int | None, head: int | None) -> str:
    layers, heads = found.attention.shape[:2]
    where = [f"layer {layers - 1 if layer is None else layer}"] if layers > 1 else []
    if heads > 1:
        where.append(f"mean of {heads} heads" if head is None else f"head {head}")
    return f" ({', '.join(where)})" if where else ""
