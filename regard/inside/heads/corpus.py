"""The kinds of heads over a corpus: one text a line, as a stream, in constant memory.

What a line adds does not depend on other lines, and sums are whole numbers (multiples of 2^-32),
so that their order does not matter: an interrupted run that goes on, and several processes that
share the lines, give the same bits as one run.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.attention.wanted import Wanted
from regard.errors import DataError, FileError, ModelError, RegardError, UnknownWordError
from regard.files import opened, share_read, write_text
from regard.inside.heads.entries import MOST, weights_between
from regard.inside.heads.kinds import Tally, scored
from regard.inside.heads.patterns import Patterns
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
from regard.pieces.heads import HeadPlace, Heads
from regard.pieces.pieces import Pieces
from regard.pieces.unknown import Unknown

UNIT = 1 << 32
"""Sums count in multiples of 1 / UNIT: 2e9 queries fit, each to 1e-10."""
BLOCK = 8
"""Lines that a process takes at a time."""
MOST_STRANGE = 20
"""Examples of unknown text that are kept."""
SAVE_EVERY = 10.0
"""Seconds between two savings, at least."""

Whole = NDArray[np.int64]


class Workers(Protocol):
    """The processes that share a corpus: see regard.train.run.distributed."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    def collected(self, value: Any) -> list[Any]: ...
    def highest(self, *values: float) -> list[float]: ...
    def from_main(self, act: Callable[[], Any]) -> Any: ...


@dataclass
class Sums:
    """What lines add up to: whole numbers only."""

    texts: int = 0
    tokens: int = 0
    empty: int = 0
    long: int = 0
    """Lines left out because the model (or --max-tokens) does not allow so many tokens."""
    linked: int = 0
    """Lines with both words of the link."""
    unknown: int = 0
    """Tokens that stand for text which the model does not know."""
    strange: list[str] = field(default_factory=list)
    """Some of that text."""
    tallies: dict[int, Whole] = field(default_factory=dict)
    """By layer, (score chance count, heads, kinds)."""
    links: dict[int, Whole] = field(default_factory=dict)
    """By layer, (heads,)."""

    def __iadd__(self, other: Sums) -> Sums:
        for name in ("texts", "tokens", "empty", "long", "linked", "unknown"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.strange = list(dict.fromkeys([*self.strange, *other.strange]))[:MOST_STRANGE]
        for mine, theirs in ((self.tallies, other.tallies), (self.links, other.links)):
            for layer, values in theirs.items():
                mine[layer] = mine[layer] + values if layer in mine else values
        return self

    def heads(self, model: str, link: bool) -> Heads:
        """The ranking of what was read so far."""
        found: dict[HeadPlace, Any] = {}
        weights: dict[HeadPlace, float | None] = {}
        for layer, whole in self.tallies.items():
            sums = Tally(*(torch.from_numpy(part) / UNIT for part in whole.astype(np.float64)))
            found |= {(layer, head): seen for head, seen in enumerate(scored(sums))}
            if link:
                got = self.links.get(layer)
                for head in range(whole.shape[1]):
                    weights[layer, head] = (
                        None if got is None else int(got[head]) / UNIT / self.linked
                    )
        return Heads(model, self.tokens, found, weights)


@dataclass
class CorpusState:
    """Where a run stands. It can go on with any number of processes."""

    setting: dict[str, Any]
    """What must be the same when it goes on."""
    lines: int = 0
    digest: str = ""
    """sha256 of the lines that were read."""
    sums: Any = field(default_factory=Sums)

    command: ClassVar[str] = "heads"
    """Which command's run it is."""
    kind: ClassVar[type] = Sums
    """What lines add up to."""
    arrays: ClassVar[tuple[str, ...]] = ("tallies", "links")
    """Those of its fields that are arrays by layer."""

    def save(self, path: str | os.PathLike[str]) -> None:
        sums = asdict(self.sums)
        for name in self.arrays:
            sums[name] = {str(layer): values.tolist() for layer, values in sums[name].items()}
        content = {"regard": self.command, "setting": self.setting, "lines": self.lines}
        write_text(path, json.dumps(content | {"digest": self.digest, "sums": sums}))

    @classmethod
    def begin(cls, path: str | os.PathLike[str] | None, setting: dict[str, Any]) -> Self:
        """What was saved, or nothing yet."""
        if path is None or not os.path.exists(path):
            return cls(setting, sums=cls.kind())
        return cls.load(path, setting)

    @classmethod
    def load(cls, path: str | os.PathLike[str], setting: dict[str, Any]) -> Self:
        """The saved state, which must be of the same model, link and bounds."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
            if content["regard"] != cls.command:
                raise KeyError("regard")
            sums = content["sums"]
            for name in cls.arrays:
                sums[name] = {int(k): np.array(v, dtype=np.int64) for k, v in sums[name].items()}
            state = cls(content["setting"], content["lines"], content["digest"], cls.kind(**sums))
        except OSError as error:
            raise FileError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except (ValueError, KeyError, TypeError) as error:
            raise FileError(
                f"{str(path)!r} is not the state of 'regard {cls.command} --corpus'; name another "
                "file"
            ) from error
        for name, value in setting.items():
            if state.setting.get(name) != value:
                raise RegardError(
                    f"{str(path)!r} is the state of another run: its {name} is "
                    f"{state.setting.get(name)!r}, now it is {value!r}; name another file"
                )
        return state


Some = TypeVar("Some", bound=CorpusState)


def read_corpus(path: str) -> Iterator[tuple[bytes, float]]:
    """Each line as bytes, with its end, and the share of the file that was read before it."""
    with opened(path) as (stream, raw):
        while line := stream.readline():
            yield line, share_read(raw)


class CorpusReader:
    """Runs a model over lines and adds up; the model is observed from the first line on."""

    def __init__(self, model: TextModel, link: tuple[str, str] | None, most: int | None) -> None:
        self.model, self.link, self.most = model, link, most
        self.sums = Sums()
        self.tokens: Pieces | None = None
        self.patterns: Patterns | None = None
        self.ends: tuple[Tensor, Tensor] | None = None
        self.stack = ExitStack()
        self.watching = False

    def __enter__(self) -> CorpusReader:
        return self

    def __exit__(self, *failure: Any) -> None:
        self.stack.__exit__(*failure)

    def read(self, lines: list[str]) -> Sums:
        """What these lines add up to."""
        self.sums = Sums()
        for line in lines:
            self._read(line)
        return self.sums

    def _read(self, line: str) -> None:
        if not line.strip():
            self.sums.empty += 1
            return
        try:
            self.tokens = self.model.read(line, self.most)
        except DataError:  # too long
            self.sums.long += 1
            return
        self.patterns, self.ends = Patterns(self.tokens), self._ends(self.tokens)
        self.sums.texts += 1
        self.sums.tokens += len(self.tokens)
        self.sums.linked += self.ends is not None
        if unknown := Unknown(self.tokens):
            self.sums += Sums(unknown=sum(self.tokens.unknown), strange=list(unknown.parts))
        if not self.watching:
            self.stack.enter_context(observe(self.model.network, each=self._add))
            self.watching = True
        self.model.run(self.tokens)

    def _ends(self, tokens: Pieces) -> tuple[Tensor, Tensor] | None:
        if self.link is None:
            return None
        try:
            words = [tokens.word(name)[0] for name in self.link]
        except UnknownWordError:
            return None
        rows, columns = (torch.arange(w.start, w.stop).unsqueeze(0) for w in words)
        return rows, columns

    def _add(self, layer: ObservedLayer) -> None:
        if layer.kind != "self":
            return
        assert self.patterns is not None
        item, number = layer.item(), layer.number
        heads, queries = item.query.shape[:2]
        long = heads * queries * item.key.shape[1] > MOST
        found = None
        if long or self.ends is not None:
            found = item.statistics(Wanted(entropy=long, received=long))
        tally = self.patterns.tally(item, found if long else None)
        added = Sums(tallies={number: whole(torch.stack((tally.score, tally.chance, tally.count)))})
        if self.ends is not None and found is not None:
            rows, columns = (end.to(item.query.device) for end in self.ends)
            weights = weights_between(item, found.lse, rows, columns)[:, 0].sum(-1).mean(-1)
            added.links[number] = whole(weights)
        self.sums += added


def rank_corpus(
    model: TextModel,
    path: str,
    world: Workers,
    *,
    link: tuple[str, str] | None = None,
    most: int | None = None,
    state_file: str | None = None,
    progress: Callable[[CorpusState, float], None] | None = None,
    stop: threading.Event | None = None,
) -> CorpusState:
    """Read the corpus to its end, or until ``stop``; the state is the same on every process.

    With ``state_file`` it goes on where a run with this file ended, and saves there.
    """
    size = size_of(model.network)
    setting = {"model": model.name, "size": size, "link": link and list(link), "most": most}
    state: CorpusState = world.from_main(lambda: CorpusState.begin(state_file, setting))
    with CorpusReader(model, link, most) as reader:
        read_through(path, world, state, reader.read, state_file, progress, stop)
    return state


def read_through(
    path: str,
    world: Workers,
    state: Some,
    read: Callable[[list[str]], Any],
    state_file: str | None = None,
    progress: Callable[[Some, float], None] | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Let ``read`` add up the lines, and ``state`` the sums, to the end or until ``stop``."""
    saved = time.monotonic()
    lines = read_corpus(path)
    digest = _skip(lines, state, path, state_file)
    while some := list(islice(lines, BLOCK * world.size)):
        texts = [_decode(line, state.lines + i, path) for i, (line, _) in enumerate(some, 1)]
        mine = texts[world.rank * BLOCK : (world.rank + 1) * BLOCK]
        for part in world.collected(read(mine)):
            state.sums += part
        state.lines += len(some)
        digest.update(b"".join(line for line, _ in some))
        state.digest = digest.hexdigest()
        if progress:
            progress(state, some[-1][1])
        if state_file and world.rank == 0 and time.monotonic() - saved > SAVE_EVERY:
            state.save(state_file)
            saved = time.monotonic()
        if world.highest(float(stop is not None and stop.is_set()))[0]:
            break
    if state_file and world.rank == 0:
        state.save(state_file)


def _skip(
    lines: Iterator[tuple[bytes, float]], state: CorpusState, path: str, name: str | None
) -> Any:
    """Pass over the lines that were read before, which must be the same lines."""
    digest = hashlib.sha256()
    read = 0
    for line, _ in islice(lines, state.lines):
        digest.update(line)
        read += 1
    if state.lines and (read < state.lines or digest.hexdigest() != state.digest):
        raise RegardError(
            f"{name!r} is the state of another corpus: the first {state.lines:,} lines of "
            f"{path!r} are not those that were read; name another file"
        )
    return digest


def _decode(line: bytes, number: int, path: str) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path!r} is not UTF-8: line {number:,}, byte {error.start + 1} of the line is "
            f"0x{line[error.start]:02x}; iconv -f LATIN1 -t UTF-8 converts the most common other "
            "encoding"
        ) from error


def whole(numbers: Tensor) -> Whole:
    """Multiples of 1 / UNIT."""
    if not bool(numbers.isfinite().all()):
        raise ModelError(
            "what is summed over the lines must be finite numbers, got NaN or infinity in a line: "
            "the model overflows in its dtype, or its weights are damaged"
        )
    found: Whole = (numbers.double().cpu() * UNIT).round().long().numpy()
    return found


def size_of(network: nn.Module) -> int:
    """How many numbers a model has: another model of the same name is noticed."""
    return sum(parameter.numel() for parameter in network.parameters())
