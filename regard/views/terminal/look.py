"""A look into a model, on the terminal: overview of heads, strongest links, a word, one head."""

from __future__ import annotations

from collections import Counter

import numpy as np
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from regard.pieces.look import Look
from regard.pieces.measures import column, told
from regard.text import cut, number_of, visible
from regard.views.terminal.alignment import SHADES, print_alignment
from regard.views.terminal.numbers import bar, colour

KIND_SIGNS = {
    "previous": ("P", "previous token"),
    "next": ("N", "next token"),
    "same": ("=", "same position"),
    "first": ("F", "first token"),
    "separator": ("|", "separator"),
    "repeat": ("R", "same word again"),
    "induction": ("I", "induction"),
    "local": ("L", "local window"),
    "broad": ("B", "broad"),
    "mixed": ("·", "mixed"),
}
"""A sign for each kind of head, and its name."""
MOST_WORDS = 32
"""Rows and columns of a map that are written out; a longer one is drawn in cells."""
MOST_TITLE = 600
"""Characters of the text that are shown."""


def print_look(look: Look, console: Console, shown: int = 10) -> None:
    """Everything that was asked for; ``shown`` lines of each list."""
    _title(look, console)
    if look.map is not None:
        _head(look, console, shown)
    elif look.request.layer is not None:
        console.print()
        console.print(kind_table(look))
    elif look.place is None:
        _overview(look, console)
    if look.place is not None:
        _place(look, console, shown)
    elif look.map is None:
        _links(look, console, shown)
    for line in remarks(look):
        console.print()
        console.print(Text(line, style="yellow"))


def kind_name(kind: str, noun: str) -> str:
    """``previous token``, of an image ``previous patch``."""
    return KIND_SIGNS[kind][1].replace("token", noun)


def remarks(look: Look) -> list[str]:
    """What a reader must know about these numbers."""
    said = [told(look.request.measure, look.keys.noun)] if look.request.measure else []
    if look.scored:
        said.append(f"Here y is {look.scored}.")
    share = float(np.mean(list(look.sink.values()))) if look.sink else 0.0
    names = sink_names(look)
    if look.request.no_sink:
        said.append(
            f"Without {names}: every weight here is renormalised, shared out anew over the other "
            f"{look.keys.nouns}, so that each row sums to 1 again. As they are, {share:.0%} of the "
            "weight goes to what was left out."
        )
    elif share >= 0.1:
        said.append(f"{share:.0%} of the weight goes to {names}; --no-sink leaves these out.")
    read = look.queries if look.request.no_sink else look.keys
    if any(read.padding):
        who = "that ask" if look.request.no_sink else "that are read"
        said.append(
            f"{sum(read.padding):,} of the {len(read):,} pieces {who} are padding, behind the end; "
            "kinds and figures of heads are over all of them, as the model is."
        )
    if look.request.words and not look.keys.placed:
        said.append("This tokenizer does not say where its tokens stand: each counts as a word.")
    return said


def sink_names(look: Look) -> str:
    """``[CLS] and [SEP]``"""
    keys = look.keys
    marks = zip(keys.labels, keys.special, keys.padding, strict=True)
    special = [t for t, own, filled in marks if own and not filled]
    named = [visible(t) for t in dict.fromkeys(special)]
    if filled := sum(keys.padding):
        named.append(f"the {number_of(filled, 'piece')} of padding")
    if not keys.special[0]:
        named.insert(0, f"the first {keys.noun} ({visible(keys.labels[0])})")
    return " and ".join(named)


def _title(look: Look, console: Console) -> None:
    heads = [h for layer, h in look.heads if layer == next(iter(look.heads))[0]]
    part = f", {look.request.part}" if look.request.part else ""
    text = Text(visible(look.model), style="bold")
    what = "token" if look.queries.noun == "token" else "piece"
    text.append(f"{part}: {number_of(len(look.queries), what)}, ", style="default")
    if look.request.layer is not None:
        what = f"layer {look.request.layer}, {number_of(len(heads), 'head')}"
    else:
        done = "" if look.done == look.layers else f"{look.done} of "
        what = f"{done}{number_of(look.layers, 'layer')}, {number_of(len(heads), 'head')} each"
    text.append(f"{what} (layers and heads from 0)", style="default")
    console.print(text)
    sides = [(look.queries, look.names[0]), (look.keys, look.names[1])]
    for side, names in sides[: 1 if look.queries is look.keys else 2]:
        if side.noun != "token":  # a thing is drawn
            continue
        console.print(Text(cut(visible(" ".join(names[:MOST_TITLE])), MOST_TITLE), style="dim"))


def _overview(look: Look, console: Console) -> None:
    """A row for each layer, a sign for each head: its kind and, if there is room, its score."""
    console.print()
    heads = max(h for _, h in look.heads) + 1
    for start in range(0, heads, 72):
        stop = min(heads, start + 72)
        count = stop - start
        size = next(s for s in (5, 3, 2, 1) if s * count <= 75 or s == 1)
        _head_numbers(console, start, stop, size)
        for layer in sorted({layer for layer, _ in look.heads}):
            line = Text(f"{layer:>3} ")
            for head in range(start, stop):
                line.append(_cell(look, layer, head, size))
            console.print(line, no_wrap=True)
    console.print()
    counts = Counter(seen.kind for seen in look.heads.values())
    legend = Text()
    for kind, (sign, _) in KIND_SIGNS.items():
        if counts[kind]:
            entry = Text(f"{sign} {kind_name(kind, look.keys.noun)} {counts[kind]}")
            if legend and len(legend.plain.split("\n")[-1]) + entry.cell_len + 3 > console.width:
                legend.append("\n")
            elif legend:
                legend.append("   ")
            legend.append(entry)
    console.print(legend)


def _head_numbers(console: Console, start: int, stop: int, size: int) -> None:
    line = " " * 4
    for head in range(start, stop):
        name = str(head)
        if size >= len(name) + 1:
            line += name.rjust(size - 1) + " "
        else:
            line += (name if head % 10 == 0 else "").ljust(size)[:size]
    console.print(Text(line.rstrip(), style="dim"), no_wrap=True)


def _cell(look: Look, layer: int, head: int, size: int) -> Text:
    seen = look.heads.get((layer, head))
    if seen is None:
        return Text(" " * size)
    sign = KIND_SIGNS[seen.kind][0]
    score = seen.scores.get(seen.kind) or 0.0
    number = "" if seen.kind == "mixed" else hundredths(score)
    if size == 3:
        number = "" if seen.kind == "mixed" else str(min(9, int(10 * score)))
    text = sign + (number if size >= 3 else "")
    r, g, b = colour(score)
    style = Style(color=f"rgb({r},{g},{b})") if seen.kind != "mixed" else Style(dim=True)
    return (
        Text(text.ljust(size)[:size], style=style)
        if size < 5
        else Text(text.rjust(4) + " ", style=style)
    )


def hundredths(share: float) -> str:
    """``.64``; ``1.0`` for what rounds to 1."""
    return "1.0" if share >= 0.995 else f"{share:.2f}"[1:]


def kind_table(look: Look) -> Table:
    """A row for each head with the score of every kind."""
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("head", justify="right")
    table.add_column("kind")
    names = [kind for kind in KIND_SIGNS if kind != "mixed"]
    for name in names:
        table.add_column(
            {"separator": "separ.", "induction": "induct."}.get(name, name), justify="right"
        )
    for (layer, head), seen in sorted(look.heads.items()):
        row = [f"L{layer}H{head}", seen.kind]
        for name in names:
            score = seen.scores.get(name)
            row.append("-" if score is None else f"{score:.3f}"[1:] if score < 1 else "1.00")
        table.add_row(*row)
    return table


def _links(look: Look, console: Console, shown: int) -> None:
    """The strongest link of each head, the strongest heads first."""
    queries, keys = look.names
    best = [(links[0], place) for place, links in look.links.items() if links]
    best.sort(key=lambda x: (-x[0][2], x[1]))
    if not best:
        return
    console.print()
    what = "words" if look.request.words else look.queries.nouns
    first = f"the first {look.queries.noun} or special ones"
    first = "special pieces" if what == "patches" else first
    title = f"Strongest links between two {what}, one for each head (none to itself, {first})"
    console.print(Text(title, style="bold"))
    heading = f"{column(look.request.measure):>42}  head    its kind"
    console.print(Text(heading, style="dim"), no_wrap=True)
    placed = max(map(len, look.names)) > MOST_WORDS
    for (query, key, weight), (layer, head) in best[:shown]:
        line = Text(f"  {_named(queries, query, 16, placed)} → ")
        line.append(_named(keys, key, 16, placed), style="bold")
        line.append(" " * max(1, 37 - line.cell_len))
        line.append(f"{weight:.3f}  ", style="default")
        kind = kind_name(look.heads[layer, head].kind, look.keys.noun)
        line.append(f"L{layer}H{head}".ljust(8), style="cyan").append(kind, style="dim")
        console.print(line, no_wrap=True, overflow="ellipsis")


def _named(names: list[str], i: int, width: int, placed: bool = True) -> str:
    """A token, and where it stands: a long text has many of the same."""
    name = cut(visible(names[i]), width)
    return f"{name} ({i})" if placed else name


def _place(look: Look, console: Console, shown: int) -> None:
    """What a word attends to and who attends to it: the mean over heads and the strongest head."""
    place = look.place
    assert place is not None
    name = visible(place.text)
    if place.times > 1:
        console.print()
        which = f"{name!r} occurs {place.times} times; this is the one at token {place.start}"
        console.print(Text(f"{which} ({name}#2 is the second).", style="yellow"))
    queries, keys = look.names
    for title, rows, names, gone in (
        (f"{name!r} attends to", place.to, keys, look.left_out[1]),
        (f"{name!r} is attended to by", place.by, queries, look.left_out[0]),
    ):
        if not rows:
            continue
        console.print()
        console.print(_others(title, rows, names, gone, shown))


def _others(
    title: str, rows: dict[int, np.ndarray], names: list[str], gone: set[int], shown: int
) -> Table:
    whole = np.concatenate([rows[layer] for layer in sorted(rows)])
    owners = [(layer, h) for layer in sorted(rows) for h in range(len(rows[layer]))]
    mean, best = whole.mean(0), whole.argmax(0)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", title=title)
    table.title_justify, table.title_style = "left", "bold"
    table.add_column("", overflow="ellipsis", no_wrap=True, max_width=30)
    table.add_column(f"mean of {number_of(len(whole), 'head')}", justify="right")
    table.add_column("")
    table.add_column("strongest", justify="right")
    table.add_column("head", style="cyan")
    order = [j for j in np.argsort(-mean, kind="stable").tolist() if j not in gone]
    for j in order[:shown]:
        layer, head = owners[int(best[j])]
        table.add_row(
            Text(_named(names, j, 20, len(names) > MOST_WORDS)),
            f"{mean[j]:.3f}",
            bar(float(mean[j]), 16),
            f"{whole[best[j], j]:.3f}",
            f"L{layer}H{head}",
        )
    return table


def _head(look: Look, console: Console, shown: int) -> None:
    """One head: its scores, its weights (or a coarse picture), its strongest links."""
    assert look.map is not None
    place = (look.request.layer or 0, look.request.head or 0)
    seen = look.heads[place]
    console.print()
    line = Text(f"L{place[0]}H{place[1]}: {kind_name(seen.kind, look.keys.noun)}", style="bold")
    scores = ", ".join(f"{k} {v:.3f}" for k, v in seen.scores.items() if v is not None)
    console.print(line.append(f"   {scores}", style="dim"))
    console.print()
    queries, keys = look.names
    if max(look.map.shape) <= MOST_WORDS:
        what = look.request.measure or "weights"
        console.print(Text(f"A row for each query, {what} in hundredths:", style="dim"))
        left = [j for j in range(len(keys)) if j not in look.left_out[1]]
        weights = look.map.dense().cpu().numpy()[:, left]
        print_alignment([keys[j] for j in left], queries, weights, console)
    else:
        _cells(look, console)
    if look.place is None:
        console.print()
        console.print(Text("Strongest links", style="bold"))
        for query, key, weight in look.links.get(place, [])[:shown]:
            line = Text(f"  {_named(queries, query, 20)} → {_named(keys, key, 20)}")
            line.append(" " * max(1, 65 - line.cell_len) + f"{weight:.3f}")
            console.print(line, no_wrap=True)


def _cells(look: Look, console: Console) -> None:
    """A coarse picture: each sign is the largest weight of its cell."""
    assert look.map is not None
    pooled = look.map.pooled(min(64, console.width - 8)).cpu().numpy()
    rows, columns = look.map.shape
    tall, wide = -(-rows // pooled.shape[0]), -(-columns // pooled.shape[1])
    said = f"Each sign is the largest of {tall} x {wide} weights ({' '.join(SHADES)} = 0 to 1):"
    console.print(Text(said, style="dim"))
    for i, row in enumerate(pooled):
        line = Text(f"{i * tall:>6} ", style="dim")
        for weight in row.tolist():
            r, g, b = colour(weight)
            sign = SHADES[round(min(1.0, weight) * (len(SHADES) - 1))]
            line.append(sign, style=f"rgb({r},{g},{b})")
        console.print(line, no_wrap=True, overflow="crop")
