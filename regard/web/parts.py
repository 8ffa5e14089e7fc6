"""Parts: what the page asks of a look: its document, a layer's heads, one head, a tile, a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from regard.attention.map import AttentionMap
from regard.attention.statistics import scores_of, statistics
from regard.errors import RegardError
from regard.inside.heads.kinds import scored
from regard.inside.heads.patterns import Patterns
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.sheets import subject_of_observation, text_of
from regard.pieces.sheet import Sheet, Subject
from regard.trace import Array
from regard.views.page.file import document
from regard.views.page.maps import as_array
from regard.views.page.pack import Pack
from regard.web.looks import LookTask

TILE = 128
"""Cells on a side of a tile, as the page has them."""
THUMBNAIL = 48
WHOLE = 12_000_000
"""Numbers up to which a page gets all vectors at once; above it, what it asks for."""


def document_of(look: LookTask) -> dict[str, Any]:
    """The page's data: everything of a short text; of a long one, what layers there are."""
    subject = _subject(look)
    if subject.numbers > WHOLE:
        for sheet in subject.sheets:
            _empty(sheet)
    content, packed = document([subject])
    shapes = [list(s) for s in look.made["shapes"]]
    for layer, shape in zip(content["subjects"][0]["layers"], shapes, strict=True):
        layer["shape"] = shape
        layer["remote"] = subject.numbers == 0
    return {"document": content, "packed": packed}


def _subject(look: LookTask) -> Subject:
    observation = look.observation
    assert observation is not None
    texts = [text_of(look.tokens)]
    observation.tokens = look.tokens.texts
    if look.target is not None:
        texts.append(text_of(look.target, "target"))
        observation.tokens = {"encoder": look.tokens.texts, "decoder": look.target.texts}
    subject = subject_of_observation(
        observation,
        " ".join(look.text[:200].split()),
        model=look.model.title,
        texts=texts,
        start={"view": "overview"},
    )
    look.made["shapes"] = [sheet.shape for sheet in subject.sheets]
    return subject


def _empty(sheet: Sheet) -> None:
    """Leave the vectors out: the page asks for those of a head when it shows it."""
    sheet.query = sheet.key = np.zeros((1, 0, 0), np.float32)
    sheet.value = sheet.bias = sheet.allowed = sheet.lse = sheet.context = None
    sheet.checked = ()


def layer_of(look: LookTask, number: int) -> ObservedLayer:
    assert look.observation is not None
    layers = look.observation.layers
    if not 0 <= number < len(layers):
        raise RegardError(f"layers are counted from 0: there are {len(layers)}, got {number}")
    return layers[number]


def heads_of(look: LookTask, number: int) -> dict[str, Any]:
    """Kind, entropy, largest weight and a small picture of every head of a layer."""
    if ("heads", number) in look.made:
        found: dict[str, Any] = look.made["heads", number]
        return found
    layer = layer_of(look, number)
    item = layer.item()
    seen = statistics(item.query, item.key, item.rule, entropy=True, received=True, cells=THUMBNAIL)
    assert seen.entropy is not None
    assert seen.pooled_max is not None
    tokens = look.tokens if layer.part != "decoder" or look.target is None else look.target
    kinds = scored(Patterns(tokens, layer.kind == "cross").tally(item, seen))
    pack = Pack(half=True)
    pack.add(as_array(seen.pooled_max))
    entropy = seen.entropy.mean(-1).tolist()
    most = seen.pooled_max.flatten(1).amax(-1).tolist()
    result = {
        "heads": [
            {
                "kind": one.kind,
                "share": one.scores.get(one.kind),
                "entropy": entropy[h],
                "most": most[h],
            }
            for h, one in enumerate(kinds)
        ],
        "arrays": pack.entries,
        "packed": pack.text(),
    }
    look.made["heads", number] = result
    return result


def links_of(look: LookTask, row: int, column: int) -> dict[str, Any]:
    """What token ``row`` gives to token ``column`` in each head, layer by layer; null for a layer
    that has no such tokens."""
    assert look.observation is not None
    return {
        "query": row,
        "key": column,
        "layers": [_link_of(layer.item(), row, column) for layer in look.observation.layers],
    }


def _link_of(item: Item, row: int, column: int) -> list[float] | None:
    queries, keys = len(item.rows), len(item.columns)
    if row >= queries or column >= keys:
        return None
    if item.weights is not None:
        stored: list[float] = item.weights[:, row, column].tolist()
        return stored
    scores = scores_of(item.query, item.key, item.rule, (row, row + 1), (0, keys))[:, 0]
    weights: list[float] = scores.softmax(-1)[:, column].nan_to_num(0).tolist()
    return weights


def head_of(look: LookTask, number: int, head: int) -> dict[str, Any]:
    """The vectors of one head, as a page carries them."""
    layer = layer_of(look, number)
    item, place = layer.item(), layer.place(head)
    shared = place // (layer.heads // layer.key_heads)
    pack = Pack(half=True)
    parts: dict[str, int | None] = {"weights": None}
    if item.weights is not None:
        parts |= {"query": None, "key": None, "value": None}
        parts["weights"] = pack.add(as_array(item.weights[place : place + 1]), exact=True)
    else:
        parts["query"] = pack.add(as_array(item.query[place : place + 1]))
        parts["key"] = pack.add(as_array(item.key[shared : shared + 1]))
        value = item.value
        parts["value"] = None
        if value is not None:
            parts["value"] = pack.add(as_array(value[shared : shared + 1]))
    parts |= _rule_parts(layer, place, pack)
    return {"parts": parts, "arrays": pack.entries, "packed": pack.text()}


def _rule_parts(layer: ObservedLayer, place: int, pack: Pack) -> dict[str, int | None]:
    rule = layer.item().rule
    mask = rule.mask
    allowed = None if mask is None or mask.allowed is None else mask.allowed.cpu().numpy()
    bias = None if rule.bias is None or layer.item().weights is not None else as_array(rule.bias)
    return {"allowed": pack.add(_one(allowed, place)), "bias": pack.add(_one(bias, place))}


def _one(array: Array | None, place: int) -> Array | None:
    """What holds for one head, with three axes."""
    if array is None:
        return None
    array = array.reshape((1,) * (3 - array.ndim) + array.shape)
    return array if len(array) == 1 else array[place : place + 1]


def map_of(look: LookTask, number: int, head: int) -> AttentionMap:
    """A head's map; its log-sums are computed once."""
    key = ("map", number, head)
    if key not in look.made:
        look.made[key] = layer_of(look, number).map(head)
    found: AttentionMap = look.made[key]
    return found


def tile_of(look: LookTask, number: int, head: int, level: int, down: int, across: int) -> bytes:
    """TILE × TILE cells (fewer at an edge) of 2^level × 2^level weights, the largest of each."""
    of = map_of(look, number, head)
    queries, keys = of.shape
    span = TILE << level
    top, left = down * span, across * span
    if not (0 <= level <= 20 and 0 <= top < queries and 0 <= left < keys):
        raise RegardError(f"there is no tile {down}, {across} of level {level}: {queries} x {keys}")
    bottom, right = min(queries, top + span), min(keys, left + span)
    size = 1 << level
    tall = max(size, (1 << 22) // max(1, right - left) // size * size)  # about 16 MB at a time
    strips = []
    for start in range(top, bottom, tall):
        block = of.block((start, min(bottom, start + tall)), (left, right))
        strips.append(F.max_pool2d(block[None], size, ceil_mode=True)[0])
    cells: Array = torch.cat(strips).float().cpu().numpy()
    return cells.astype("<f4").tobytes()
