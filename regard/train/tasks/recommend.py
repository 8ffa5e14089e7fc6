"""The task of recommending: a language model whose words are items, and how it ranks the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.errors import DataError
from regard.models.language import LanguageConfig, LanguageModel, sized
from regard.pieces.history import Catalogue, History
from regard.pieces.tokenizer import BOS
from regard.store.folder import ITEMS, RunFolder
from regard.text import number_of, quoted
from regard.train.config import TrainConfig
from regard.train.data.batches import padded, plan
from regard.train.data.config import named_columns
from regard.train.data.histories import Histories, read_histories, read_titles
from regard.train.data.thingconfig import EVENT, HistoryConfig
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Job, Settings
from regard.train.tasks.ranking import BASELINES, FIRST, LeftOut, Mean, ranked

LEAST = 3
"""Items of a user: one to train on, one to validate and one to test on."""
MOST_RANKED = 10_000
"""Users that are ranked while validating; of more, so many spread over all."""
RECIPES: dict[str, Tree] = {
    "simple-rnn": {"learning_rate": 1e-3},
    "simple-rnn+attention": {"learning_rate": 1e-3},
}
"""Settings of TrainConfig that suit a design, where the user says nothing."""
USUAL: Tree = {
    "learning_rate": 2e-3,
    "schedule": "cosine",
    "warmup": 100,
    "batch_tokens": 2000,
    "smoothing": 0.0,
    "validate_at_most": MOST_RANKED,
}
"""The same for all of them."""


@dataclass(frozen=True)
class HistoryCorpus:
    """Histories in the numbers of their items."""

    catalogue: Catalogue
    data: Histories
    users: list[list[int]]
    """Of the users with at least three items."""
    ties: list[list[bool]]
    """Which of their items have the time of the item before."""
    few: list[str]
    """The other users."""

    @property
    def train(self) -> list[list[int]]:
        """All but the last two items of each user."""
        return [items[:-2] for items in self.users]

    def trials(self, last: int) -> list[LeftOut]:
        """What to find: the last item of each user (1), or the one before it (2)."""
        return [LeftOut(items[:-last], items[-last]) for items in self.users]


class NextItem:
    """A recommender in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    score = f"NDCG@{FIRST}"
    higher = True

    def __init__(
        self, model: LanguageModel, corpus: HistoryCorpus, data: HistoryConfig, config: TrainConfig
    ) -> None:
        self.model, self.corpus, self.data, self.config = model, corpus, data, config
        self.train = self._passed(corpus.train)
        self.valid = corpus.trials(2)
        self.lengths = [(len(items) + 1,) for items in self.train]

    def batches(self, epoch: int) -> list[list[int]]:
        """In each pass the items of equal time stand in an order that (seed, epoch) decide."""
        if self.data.shuffle:
            chance = np.random.Generator(np.random.PCG64([self.config.seed, epoch, 1]))
            pairs = zip(self.corpus.train, self.corpus.ties, strict=True)
            self.train = self._passed([shuffled(items, tied, chance) for items, tied in pairs])
        return plan(self.lengths, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def _passed(self, histories: Sequence[list[int]]) -> list[list[int]]:
        return [items[-self.data.max_length :] for items in histories]

    def targets(self, rows: list[int]) -> int:
        return sum(len(self.train[row]) for row in rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        ids, lengths = padded([[BOS, *self.train[row]] for row in rows])
        device = self.model.device
        return self.model.loss(ids.to(device), lengths.to(device), smoothing).total

    def validation_loss(self, rows: list[int]) -> Tensor:
        right = torch.tensor([self.valid[row].next for row in rows], device=self.model.device)
        found = Recommender(self.model, self.data.max_length).logits(
            [self.valid[row].before for row in rows]
        )
        return F.cross_entropy(found, right, reduction="sum")

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        most = self.data.max_length
        lengths = [(min(most, len(trial.before)) + 1,) for trial in self.valid]
        chunks = plan(lengths, max(self.config.batch_tokens, most + 1))
        figures = {"loss": sum(float(forward(rows)) for rows in chunks) / len(self.valid)}
        if decode:
            some = spread(self.valid, self.config.validate_at_most)
            again = self.corpus.catalogue.again
            found = ranked(Recommender(self.model, most), some, again)
            figures["score"] = 100 * float(found.gains.mean())
            figures[f"HR@{FIRST}"] = 100 * float(found.hits.mean())
        return figures


def shuffled(items: Sequence[int], tied: Sequence[bool], chance: np.random.Generator) -> list[int]:
    """The items with those of equal time in an order drawn by chance."""
    group = np.cumsum(~np.array(tied[: len(items)], bool))
    order = np.lexsort((chance.random(len(items)), group))
    return [items[place] for place in order.tolist()]


def spread(trials: Sequence[LeftOut], most: int) -> list[LeftOut]:
    """At most so many of them, from the first to the last."""
    places = np.linspace(0, len(trials) - 1, min(len(trials), most)).astype(int).tolist()
    return [trials[place] for place in places]


class Recommender:
    """A model that ranks items, as a :class:`~regard.train.tasks.ranking.Ranker`."""

    def __init__(self, model: LanguageModel, most: int) -> None:
        self.model, self.most = model, most

    def logits(self, histories: Sequence[list[int]]) -> Tensor:
        """(histories, items) of what comes next."""
        ids, lengths = padded([[BOS, *items[-self.most :]] for items in histories])
        device = self.model.device
        return self.model.following(ids.to(device), lengths.to(device))

    @torch.no_grad()
    def scores(self, histories: Sequence[list[int]]) -> NDArray[np.float64]:
        return self.logits(histories).double().cpu().numpy()


class Recommend(Job[HistoryConfig, Histories, HistoryCorpus, LanguageConfig, LanguageModel]):
    """``regard train recommend``."""

    task = "recommend"
    reads = "history"
    data_config = HistoryConfig
    model_config = LanguageConfig
    usual_model = "transformer"
    usual_epochs = 40
    undecided: ClassVar[Mapping[str, Any]] = {"vocabulary": 100}
    paths: ClassVar[Iterable[str]] = ("history", "items")
    learns: ClassVar[Iterable[str]] = (ITEMS,)

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return USUAL | RECIPES.get(str(model["model"]), {})

    def sized(self, model: str, size: str, **settings: Any) -> LanguageConfig:
        return sized(model, size, **({"dropout": 0.5} | settings))

    def build(self, config: LanguageConfig) -> LanguageModel:
        return LanguageModel(config)

    def read(self, data: HistoryConfig) -> Histories:
        assert data.history is not None, "HistoryConfig checks this"
        return read_histories(data.history, named_columns(data.columns, *EVENT))

    def fingerprint(self, read: Histories) -> str:
        return read.digest()

    def learn(self, read: Histories, data: HistoryConfig) -> Files:
        items = dict.fromkeys(item for history in read.users for item in history.items)
        titles = read_titles(data.items) if data.items else {}
        again = any(len(set(history.items)) < len(history.items) for history in read.users)
        known = {item: titles[item] for item in items if item in titles}
        return {ITEMS: Catalogue(list(items), known, again).to_text()}

    def known(self, folder: RunFolder) -> Files:
        return {ITEMS: folder.read_catalogue().to_text()}

    def encode(self, read: Histories, learned: Files, data: HistoryConfig) -> HistoryCorpus:
        return in_numbers(read, Catalogue.from_text(learned[ITEMS]))

    def decided(self, corpus: HistoryCorpus) -> Tree:
        return {"vocabulary": len(corpus.catalogue)}

    def make_task(
        self, model: LanguageModel, corpus: HistoryCorpus, settings: Settings[HistoryConfig]
    ) -> NextItem:
        return NextItem(model, corpus, settings.data, settings.train)

    def summary(self, corpus: HistoryCorpus, data: HistoryConfig) -> dict[str, Any]:
        return {
            "train": sum(map(len, corpus.train)),
            "valid": len(corpus.users),
            "test": len(corpus.users),
            "items": len(corpus.catalogue.items),
            "few": len(corpus.few),
            "tied": corpus.data.tied,
            "again": corpus.catalogue.again,
        }

    def notes(self, corpus: HistoryCorpus, data: HistoryConfig) -> Iterable[str]:
        yield from described(corpus, data)
        yield from to_beat(corpus)

    def conflicts(self, settings: Settings[HistoryConfig]) -> list[str]:
        most, room = settings.data.max_length, settings.train.batch_tokens
        if most + 1 <= room:
            return []
        return [
            f"train.batch_tokens ({room}) must hold a history of data.max_length ({most}) items "
            "and its beginning"
        ]


def in_numbers(read: Histories, catalogue: Catalogue) -> HistoryCorpus:
    """The histories of users with enough items that the catalogue has."""
    users, ties, few = [], [], []
    for history in read.users:
        kept = [row for row, item in enumerate(history.items) if item in catalogue]
        if len(kept) < LEAST:
            few.append(history.user)
            continue
        users.append(catalogue.numbers([history.items[row] for row in kept]))
        ties.append([history.tied[row] for row in kept])
    if not users:
        raise DataError(
            f"no user has {LEAST} items: one to train on, one to validate and one to test on"
        )
    if len(catalogue.items) < 2:
        raise DataError(f"there is one item, {catalogue.items[0]!r}: nothing to choose from")
    return HistoryCorpus(catalogue, read, users, ties, few)


def described(corpus: HistoryCorpus, data: HistoryConfig) -> Iterator[str]:
    """What is trained on, and what of its order is not to be trusted."""
    read = corpus.data
    events, items = sum(map(len, corpus.users)), len(corpus.catalogue.items)
    yield (
        f"{number_of(len(corpus.users), 'user')}, {number_of(events, 'event')}, "
        f"{number_of(items, 'item')}; of each user the last item is to test on, the one before it "
        "to validate"
    )
    if corpus.few:
        yield (
            f"left out: {number_of(len(corpus.few), 'user')} with fewer than {LEAST} items, such "
            f"as {quoted(corpus.few[0])}"
        )
    long = sum(len(items) > data.max_length for items in corpus.users)
    if long:
        have = "has" if long == 1 else "have"
        yield (
            f"{number_of(long, 'user')} {have} more than {number_of(data.max_length, 'item')}: "
            "their last ones are read"
        )
    if read.moved:
        yield "the table is not in the order of time: the items of each user were put in order"
    if read.tied:
        share = read.tied / read.events
        drawn = "; each pass draws another" if data.shuffle else ""
        yield (
            f"warning: {share:.0%} of the events have the time of the user's event before them; "
            f"their order is that of the table's lines and may say nothing{drawn}"
        )
    can = "can" if corpus.catalogue.again else "cannot"
    why = "some" if corpus.catalogue.again else "none"
    yield f"{why} of the users have an item twice: what a user had {can} be recommended again"


def to_beat(corpus: HistoryCorpus) -> Iterator[str]:
    """What the baselines reach on the validation part."""
    some = spread(corpus.trials(2), MOST_RANKED)
    parts = []
    for name, make in BASELINES.items():
        found = ranked(make(corpus.train, len(corpus.catalogue)), some, corpus.catalogue.again)
        parts.append(f"{name} {100 * Mean.of(found.gains).value:.2f}")
    yield f"to beat, validation NDCG@{FIRST} in hundredths: {', '.join(parts)}"


def own_histories(run: RunFolder, name: str, history: str | None = None) -> Histories:
    """The histories that the recommender ``name`` was trained on, read again; ``history`` is where
    they are now."""
    config = run.read_config()
    data = HistoryConfig(**config["data"])
    path = history or data.history
    assert path is not None, "HistoryConfig checks this"
    found = read_histories(path, named_columns(data.columns, *EVENT))
    if found.digest() != config["made"]["history"]:
        raise DataError(
            f"{path!r} is not the table that {name!r} was trained on, or has changed: "
            "give that one by --history FILE"
        )
    return found


def user_history(run: RunFolder, name: str, user: str, history: str | None = None) -> History:
    """One user's history, of the table that a model was trained on, or of any other."""
    data = HistoryConfig(**run.read_config()["data"])
    if history is None:
        return own_histories(run, name).of(user)
    return read_histories(history, named_columns(data.columns, *EVENT)).of(user)
