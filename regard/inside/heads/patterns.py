"""Patterns: the sums behind the kinds of heads, for one text. kinds.py says what they mean.

The patterns of a short text are 0/1 matrices over all its pairs, made once for all layers; a
layer's sums are one matrix product with its weights. A long text has too many pairs: what the
first token and the separators get is read from ``received``, and only the weights of the other
patterns' own pairs are computed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from regard.attention.rule import softmax
from regard.attention.wanted import Statistics
from regard.inside.heads.entries import MOST, seen_counts, visible, weights_between
from regard.inside.heads.kinds import WINDOW, Tally
from regard.inside.observe.layer import Item
from regard.pieces.heads import HEAD_KINDS
from regard.pieces.pieces import Pieces

OFFSETS = {"previous": -1, "same": 0, "next": 1}


class Patterns:
    """The patterns of one text; ``tokens`` are those of the keys.

    ``cross``: the queries are another text. Positions and words then do not correspond, and only
    first, separator and broad are counted.
    """

    def __init__(self, tokens: Pieces, cross: bool = False) -> None:
        self.tokens, self.cross = tokens, cross
        self._dense: dict[tuple[object, ...], tuple[Tensor, Tensor, Tensor]] = {}

    def tally(self, item: Item, found: Statistics | None = None) -> Tally:
        """Sums over the text for each head of a layer.

        ``found`` has the layer's lse, entropy and received; a short text needs none of them.
        """
        heads, queries = item.query.shape[:2]
        sums = Tally.empty(heads)
        if queries == 0:
            return sums
        if found is None or heads * queries * item.key.shape[1] <= MOST:
            self._add_dense(sums, item)
        else:
            counts = seen_counts(item)
            _add_entropy(sums, found.entropy, counts)
            self._add_received(sums, item, found, counts)
            if not self.cross:
                _add_band(sums, item, found.lse, counts)
                self._add_repeats(sums, item, found.lse, counts)
        return sums

    def _add_dense(self, sums: Tally, item: Item) -> None:
        """All pairs at once."""
        weights = item.weights
        if weights is None:
            weights = softmax(item.rule.scores(item.query, item.key))
        targets, chance, count = self._targets(item)
        last = HEAD_KINDS.index("broad")
        if targets.shape[0] == 1:
            score = weights.flatten(1) @ targets[0].flatten(1).T
        else:
            score = torch.einsum("hij,hkij->hk", weights, targets)
        for into, values in ((sums.score, score), (sums.chance, chance), (sums.count, count)):
            into[:, :last] += values.double().cpu()
        _add_entropy(sums, torch.special.entr(weights).sum(-1), seen_counts(item))

    def _targets(self, item: Item) -> tuple[Tensor, Tensor, Tensor]:
        """0/1 (heads or 1, kinds, queries, keys), and their chance and count (heads or 1, kinds).

        The same for every layer unless its mask is more than a rule.
        """
        mask = item.rule.mask
        plain = item.weights is None and (mask is None or mask.allowed is None)
        key = (*item.query.shape[1:2], *item.key.shape[1:2], mask and mask.reach, item.query.device)
        if plain and key in self._dense:
            return self._dense[key]
        rows = torch.arange(item.query.shape[1], device=item.query.device)
        columns = torch.arange(item.key.shape[1], device=item.query.device)
        seen = visible(item, rows.unsqueeze(0), columns.unsqueeze(0))[:, 0]
        total = seen.sum(-1)
        kinds = []
        for kind in HEAD_KINDS[:-1]:
            wanted = self._wanted(kind, rows, columns)
            hit = seen & wanted if wanted is not None else torch.zeros_like(seen)
            number = hit.sum(-1)
            counted = (number > 0) & _choice(kind, number, total)
            kinds.append(hit & counted.unsqueeze(-1))
        targets = torch.stack(kinds, 1)
        number = targets.sum(-1)
        chance = (number / total.clamp_min(1).unsqueeze(1)).double().sum(-1)
        result = targets.float(), chance, (number > 0).double().sum(-1)
        if plain:
            self._dense[key] = result
        return result

    def _wanted(self, kind: str, rows: Tensor, columns: Tensor) -> Tensor | None:
        """Which pairs the pattern is about (queries, keys), seen or not; None: not in this text."""
        device = rows.device
        if kind == "first":
            return (columns == 0) & ((rows > 0).unsqueeze(-1) | self.cross)
        if kind == "separator":
            return torch.tensor(self.tokens.separators, device=device).expand(len(rows), -1)
        if self.cross or len(self.tokens) != len(rows):
            return None
        ahead = columns - (rows.unsqueeze(-1) + len(columns) - len(rows))
        if kind in OFFSETS:
            return ahead == OFFSETS[kind]
        if kind == "local":
            return ahead.abs() <= WINDOW
        names = torch.tensor(self.tokens.ids, device=device)
        same = (names.unsqueeze(-1) == names) & ~torch.tensor(self.tokens.special, device=device)
        if kind == "repeat":
            return same & (ahead != 0)
        return torch.nn.functional.pad(same, (1, 0))[:, :-1] & (ahead < 0)

    def _add_received(self, sums: Tally, item: Item, found: Statistics, counts: Tensor) -> None:
        """First token and separators: what certain keys receive from all queries together."""
        assert found.received is not None
        device = item.query.device
        separators = torch.tensor(self.tokens.separators, device=device)
        first = torch.zeros_like(separators)
        first[0] = True
        for kind, keys in (("first", first), ("separator", separators)):
            number = seen_counts(item, keys)
            rows = number > 0
            got = found.received[:, keys].double().sum(-1)
            if kind == "first" and not self.cross:  # that the first token sees itself is no sink
                zero = torch.zeros(1, 1, dtype=torch.long, device=device)
                got = got - weights_between(item, found.lse, zero, zero)[:, 0, 0, 0].double()
                rows = rows & (torch.arange(rows.shape[-1], device=device) > 0)
            k = HEAD_KINDS.index(kind)
            sums.score[:, k] += got.cpu()
            sums.chance[:, k] += (number / counts.clamp_min(1) * rows).double().sum(-1).cpu()
            sums.count[:, k] += rows.double().sum(-1).cpu()

    def _add_repeats(self, sums: Tally, item: Item, lse: Tensor, counts: Tensor) -> None:
        """The same token elsewhere, and the token after its earlier places."""
        heads = item.query.shape[0]
        for places in repeated(self.tokens.ids, self.tokens.special):
            # A text of one token again and again has one group of n: then cut by rows, too.
            room = max(1, MOST // (heads * places.shape[1]))
            tall = min(places.shape[1], room)
            for some in places.to(item.query.device).split(max(1, room // tall)):
                for rows in some.split(tall, 1):
                    _add_group(sums, item, lse, counts, rows, some)


def repeated(ids: Sequence[int], special: Sequence[bool]) -> Iterator[Tensor]:
    """The places of tokens that occur more than once, (tokens, places), filled up with −1.

    Tokens that occur about as often stand together, so that there are few tensors.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for i, (token, own) in enumerate(zip(ids, special, strict=True)):
        if not own:
            places[token].append(i)
    sizes: dict[int, list[list[int]]] = defaultdict(list)
    for group in places.values():
        if len(group) > 1:
            step = 1 << max(0, len(group).bit_length() - 3)  # at most a quarter is filled up
            sizes[-(-len(group) // step) * step].append(group)
    for size, groups in sorted(sizes.items()):
        yield torch.tensor([group + [-1] * (size - len(group)) for group in groups])


def _choice(kind: str, number: Tensor, total: Tensor) -> Tensor:
    """Queries for which the pattern could also not hold: they see more than their targets.

    What the first token and the separators get counts for every query that sees them.
    """
    if kind in ("first", "separator"):
        return torch.ones_like(number, dtype=torch.bool)
    return total > number


def _add(sums: Tally, kind: str, score: Tensor, number: Tensor, total: Tensor) -> None:
    """Add up over queries: each one's weight on its targets, how many of these, of how many."""
    k = HEAD_KINDS.index(kind)
    rows = (number > 0) & _choice(kind, number, total)
    sums.score[:, k] += (score * rows).double().sum(-1).cpu()
    sums.chance[:, k] += (number / total.clamp_min(1) * rows).double().sum(-1).cpu()
    sums.count[:, k] += rows.double().sum(-1).cpu()


def _add_entropy(sums: Tally, entropy: Tensor | None, counts: Tensor) -> None:
    """Each row's entropy as a share of log(keys it sees), which an even row has."""
    assert entropy is not None
    k, rows = HEAD_KINDS.index("broad"), counts > 1
    sums.score[:, k] += (entropy / counts.clamp_min(2).log() * rows).double().sum(-1).cpu()
    sums.count[:, k] += rows.double().sum(-1).cpu()


def _add_band(sums: Tally, item: Item, lse: Tensor, counts: Tensor) -> None:
    """Previous, next, same and local: 2 · WINDOW + 1 diagonals."""
    heads, n, width = item.query.shape
    keys, device = item.key.shape[1], item.query.device
    band = torch.arange(-WINDOW, WINDOW + 1, device=device)
    step = max(1, MOST // (heads * len(band) * width))
    for rows in torch.arange(n, device=device).split(step):
        columns = rows.unsqueeze(-1) + keys - n + band
        columns = columns.masked_fill(columns >= keys, -1)
        weights = weights_between(item, lse, rows.unsqueeze(-1), columns)[:, :, 0]
        seen = visible(item, rows.unsqueeze(-1), columns)[:, :, 0]
        total = counts[:, rows]
        for kind, offset in OFFSETS.items():
            place = WINDOW + offset
            _add(sums, kind, weights[..., place], seen[..., place].long(), total)
        _add(sums, "local", weights.sum(-1), seen.sum(-1), total)


def _add_group(
    sums: Tally, item: Item, lse: Tensor, counts: Tensor, rows: Tensor, places: Tensor
) -> None:
    """``rows`` (t, r) are some of the ``places`` (t, c) of t tokens; below 0 is no place."""
    following = torch.where((places >= 0) & (places + 1 < item.key.shape[1]), places + 1, -1)
    r = rows.unsqueeze(-1)
    total = counts[:, rows.clamp_min(0)].flatten(1)
    for kind, columns in (("repeat", places), ("induction", following)):
        c = columns.unsqueeze(-2)
        hit = visible(item, rows, columns) & ((c != r) if kind == "repeat" else (c < r))
        weights = weights_between(item, lse, rows, columns) * hit
        _add(sums, kind, weights.sum(-1).flatten(1), hit.sum(-1).flatten(1), total)
