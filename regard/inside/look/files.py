"""A look as files: JSON for programs, CSV for tables."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from typing import Any

from regard.errors import RegardError
from regard.files import replacing
from regard.pieces.heads import short
from regard.pieces.look import HeadWeights, Look

MOST_WEIGHTS = 1_000_000
"""Weights of one head that JSON holds; more are pooled."""
MOST_ROWS = 20_000_000
"""Lines of a CSV file."""
CELLS = 512


def look_json(look: Look) -> dict[str, Any]:
    """Layers, heads and positions from 0; weights as they are shown."""
    queries, keys = look.names
    result: dict[str, Any] = {"model": look.model}
    if look.request.part:
        result["part"] = look.request.part
    result |= {"tokens": look.queries.labels}
    if look.keys is not look.queries:
        result["keys"] = look.keys.labels
    for name, side in (("padding", look.queries), ("key_padding", look.keys)):
        if any(side.padding) and (name == "padding" or look.keys is not look.queries):
            result[name] = [i for i, filled in enumerate(side.padding) if filled]
    if look.request.words:
        result["words"] = [list(word) for word in look.queries.words]
        if look.keys is not look.queries:
            result["key_words"] = [list(word) for word in look.keys.words]
    result["no_sink"] = look.request.no_sink
    if look.request.measure:
        result["measure"] = look.request.measure
    if look.scored:
        result["y"] = look.scored
    result["sink_share"] = {str(layer): short(share) for layer, share in look.sink.items()}
    result["heads"] = [
        {
            **seen.to_json(place),
            "links": [
                {"query": query, "key": key, "weight": short(weight)}
                for query, key, weight in look.links.get(place, [])
            ],
        }
        for place, seen in sorted(look.heads.items())
    ]
    if look.place is not None:
        result["word"] = {
            "text": look.place.text,
            "start": look.place.start,
            "stop": look.place.stop,
            "attends_to": _others(look.place.to, keys),
            "attended_by": _others(look.place.by, queries),
        }
    if look.map is not None:
        place = {"layer": look.request.layer, "head": look.request.head}
        result["map"] = place | _weights(look.map)
    return result


def _weights(weights: HeadWeights) -> dict[str, Any]:
    """All of them, or the largest of each cell where they are too many."""
    rows, columns = weights.shape
    few = rows * columns <= MOST_WEIGHTS
    shown = (weights.dense() if few else weights.pooled(CELLS)).cpu().tolist()
    return {"weights" if few else "pooled_max": [[short(w) for w in row] for row in shown]}


def write_csv(look: Look, path: str | os.PathLike[str]) -> None:
    """One line for each weight of the head, of the word, or of each head's strongest links."""
    if look.map is not None and look.map.shape[0] * look.map.shape[1] > MOST_ROWS:
        rows, columns = look.map.shape
        raise RegardError(
            f"{rows:,} x {columns:,} weights are more than a CSV file of {MOST_ROWS:,} lines "
            "takes; look at a shorter text, or use --json, which pools them"
        )
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        for row in csv_rows(look):
            writer.writerow(row)


def csv_rows(look: Look) -> Iterator[list[Any]]:
    queries, keys = look.names
    if look.place is not None:
        yield ["layer", "head", "direction", "position", "text", "weight"]
        for direction, rows, names in (("to", look.place.to, keys), ("by", look.place.by, queries)):
            for layer in sorted(rows):
                for head, weights in enumerate(rows[layer].tolist()):
                    for j, weight in enumerate(weights):
                        yield [layer, head, direction, j, names[j], short(weight)]
    elif look.map is not None:
        yield ["query", "key", "query_text", "key_text", "weight"]
        for start, stop in look.map.row_blocks():
            block = look.map.block((start, stop), (0, look.map.shape[1])).tolist()
            for i, row in enumerate(block, start):
                for j, weight in enumerate(row):
                    yield [i, j, queries[i], keys[j], short(weight)]
    else:
        yield ["layer", "head", "kind", "query", "key", "query_text", "key_text", "weight"]
        for (layer, head), links in sorted(look.links.items()):
            kind = look.heads[layer, head].kind
            for query, key, weight in links:
                yield [layer, head, kind, query, key, queries[query], keys[key], short(weight)]


def _others(rows: dict[int, Any], names: list[str]) -> list[dict[str, Any]]:
    """For each position: the mean over all heads and the strongest head."""
    found = [
        (layer, head, weights) for layer in sorted(rows) for head, weights in enumerate(rows[layer])
    ]
    result = []
    for j, name in enumerate(names if found else []):
        layer, head, weights = max(found, key=lambda x: x[2][j])
        mean = sum(float(w[j]) for _, _, w in found) / len(found)
        result.append(
            {
                "position": j,
                "text": name,
                "mean": short(mean),
                "layer": layer,
                "head": head,
                "weight": short(float(weights[j])),
            }
        )
    return result
