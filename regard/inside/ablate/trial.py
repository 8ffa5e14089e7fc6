"""Trial: a model with a text, and what it puts out: scores of words or labels, or a vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from regard.errors import DataError, RegardError, nearest
from regard.inside.ablate.measure import Cosine, Likelihood, Measured
from regard.inside.textmodel import TextModel
from regard.models.bert.encoder import BertOutput
from regard.models.classifier import Classifier
from regard.models.language import LanguageModel
from regard.models.translators.base import Translator
from regard.models.translators.translation import translate_texts
from regard.pieces.pieces import Pieces
from regard.pieces.tokenizer import BOS, EOS, Tokenizer


@dataclass
class AblationTrial(ABC):
    """``run(rows)`` gives the output of the same text, as often as there are rows."""

    title: str
    network: nn.Module
    pieces: Pieces
    """What is read; of a model with encoder and decoder, what the encoder reads."""
    parts: tuple[str, ...] = field(init=False, default=("self",))
    """The kinds of attention it has."""
    metrics: ClassVar[tuple[str, ...]] = ("probability", "logprob")
    """What can be measured, the usual one first."""
    target: str = field(init=False, default="")
    """What is measured of: a word, a label, a translation."""
    looks_back: bool = field(init=False, default=False)
    """Whether each word sees itself and those before it, and no others."""
    has_heads: bool = field(init=False, default=True)
    """Whether there are heads that could be removed; a recurrent network has none."""

    @property
    def written(self) -> Pieces:
        """What the decoder reads, or the text itself."""
        return self.pieces

    @abstractmethod
    def run(self, rows: int) -> Tensor:
        """(rows, steps, scores), or (rows, width) of a sentence's vector."""

    @abstractmethod
    def measured(self, base: Tensor, metric: str) -> Measured:
        """How outputs are compared with the unchanged one."""

    @abstractmethod
    def score(self) -> tuple[Tensor, str]:
        """A number of one run that can be followed back, and what it is."""

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device

    def ids(self, pieces: Pieces, rows: int) -> Tensor:
        return torch.tensor([pieces.ids], device=self.device).expand(rows, -1)


class ScoringTrial(AblationTrial):
    """A model that gives scores; ``wanted`` says which of them each step is about."""

    wanted: list[int]

    def measured(self, base: Tensor, metric: str) -> Measured:
        return Likelihood(base, self.wanted, metric)

    def score(self) -> tuple[Tensor, str]:
        output = self.run(1)
        found = self.measured(output.detach(), "logprob").values(output).sum()
        return found, f"log p({self.target!r})"


class SentenceTrial(AblationTrial):
    """An encoder without anything above it: the mean of its last vectors."""

    metrics = ("cosine",)

    def run(self, rows: int) -> Tensor:
        output: Any = self.network(self.ids(self.pieces, rows))
        last = output.last if isinstance(output, BertOutput) else output.last_hidden_state
        mean: Tensor = last.mean(1)
        return mean

    def measured(self, base: Tensor, metric: str) -> Measured:
        return Cosine(base)

    def score(self) -> tuple[Tensor, str]:
        return torch.linalg.vector_norm(self.run(1)), "the length of the sentence's vector"


class WordTrial(ScoringTrial):
    """A language model: the next word; a masked one: the word in the blank at ``row``."""

    def __init__(self, model: TextModel, pieces: Pieces, target: str | None, row: int = -1) -> None:
        super().__init__(model.title, model.network, pieces)
        self.row, self.tokenizer = row, model.tokenizer
        self.looks_back = row == -1
        forward: Any = self.network.forward
        few = "logits_to_keep" in signature(forward).parameters and row == -1
        self.options: dict[str, Any] = {"logits_to_keep": 1} if few else {}
        if hasattr(model.config, "use_cache"):
            self.options["use_cache"] = False
        self.wanted, self.target = self._target(target, not model.has_both and row == -1)

    def run(self, rows: int) -> Tensor:
        output: Any = self.network(input_ids=self.ids(self.pieces, rows), **self.options)
        scores: Tensor = output.logits[:, self.row].unsqueeze(1)
        return scores

    def _target(self, word: str | None, follows: bool) -> tuple[list[int], str]:
        if word is None:
            with torch.inference_mode():
                best = int(self.run(1)[0, 0].argmax())
        else:
            best = first_piece(self.tokenizer, word, follows)
        return [best], str(self.tokenizer.decode([best])).strip() or repr(best)


class LabelTrial(ScoringTrial):
    """A classifier: one of its labels."""

    def __init__(self, model: TextModel, pieces: Pieces, target: str | None) -> None:
        super().__init__(model.title, model.network, pieces)
        names = {str(name): int(i) for i, name in model.config.id2label.items()}
        self.wanted, self.target = _label(self, names, target)

    def run(self, rows: int) -> Tensor:
        output: Any = self.network(input_ids=self.ids(self.pieces, rows))
        scores: Tensor = output.logits.unsqueeze(1)
        return scores


class WritingTrial(ScoringTrial):
    """An encoder-decoder of transformers: the text that it writes, or the one it was given."""

    metrics = ("logprob",)

    def __init__(self, model: TextModel, pieces: Pieces, target: str | None) -> None:
        super().__init__(model.title, model.network, pieces)
        self.parts = ("encoder", "decoder", "cross")
        self.said = model.target(pieces, target)
        self.wanted = self.said.ids[1:]
        self.target = str(model.tokenizer.decode(self.wanted, skip_special_tokens=True)).strip()
        if not self.wanted:
            raise DataError(f"{model.title} wrote nothing that could be measured")

    @property
    def written(self) -> Pieces:
        return self.said

    def run(self, rows: int) -> Tensor:
        decoder = self.ids(self.said, rows)
        output: Any = self.network(
            input_ids=self.ids(self.pieces, rows), decoder_input_ids=decoder, use_cache=False
        )
        scores: Tensor = output.logits[:, :-1]
        return scores


class TranslatorTrial(ScoringTrial):
    """One of regard's translators: the translation that it finds, or the one it was given."""

    metrics = ("logprob",)

    def __init__(self, model: Translator, tokens: Tokenizer, text: str, target: str | None) -> None:
        self.model, self.tokens = model, tokens
        found = next(iter(translate_texts(model, tokens, [text])))
        super().__init__(model.config.model, model, found.read)
        self.text, self.target = text, found.text if target is None else target
        self.wanted = [*tokens.encode(self.target), EOS]
        self.parts = ("encoder", "decoder", "cross")
        if model.config.model != "transformer":
            self.parts, self.has_heads = ("cross",), False

    @cached_property
    def _said(self) -> Pieces:
        ids = [BOS, *self.wanted[:-1]]
        return Pieces.plain([label.strip("▁") for label in self.tokens.pieces(ids)], ids)

    @property
    def written(self) -> Pieces:
        return self._said

    def run(self, rows: int) -> Tensor:
        lengths = torch.full((rows,), len(self.pieces), device=self.device)
        scores: Tensor = self.network(
            self.ids(self.pieces, rows), lengths, self.ids(self.written, rows)
        )
        return scores

    def translation(self) -> str:
        """What the model, as it is now, makes of the text."""
        return next(iter(translate_texts(self.model, self.tokens, [self.text]))).text


class OwnWordTrial(ScoringTrial):
    """One of regard's language models: the next word."""

    def __init__(
        self, model: LanguageModel, tokens: Tokenizer, pieces: Pieces, target: str | None
    ) -> None:
        super().__init__(model.config.model, model, pieces)
        self.has_heads, self.looks_back = model.config.model == "transformer", True
        with torch.inference_mode():
            best = int(self.run(1)[0, 0].argmax())
        if target is not None:
            best = tokens.encode(target)[0]
        self.wanted, self.target = [best], tokens.pieces([best])[0].strip("▁")

    def run(self, rows: int) -> Tensor:
        scores: Tensor = self.network(self.ids(self.pieces, rows))[:, -1:]
        return scores


class OwnLabelTrial(ScoringTrial):
    """One of regard's classifiers: one of its labels."""

    def __init__(self, model: Classifier, pieces: Pieces, target: str | None) -> None:
        super().__init__(model.config.model, model, pieces)
        self.has_heads = model.config.model == "transformer"
        names = {name: i for i, name in enumerate(model.config.labels)}
        self.wanted, self.target = _label(self, names, target)

    def run(self, rows: int) -> Tensor:
        lengths = torch.full((rows,), len(self.pieces), device=self.device)
        output: Any = self.network(self.ids(self.pieces, rows), lengths)
        scores: Tensor = output.logits.unsqueeze(1)
        return scores


def first_piece(tokenizer: Any, word: str, follows: bool) -> int:
    """The token with which ``word`` begins where it ``follows`` a text, or fills a blank."""
    given = f" {word}" if follows else word
    ids = tokenizer.encode(given, add_special_tokens=False)
    found = list(getattr(ids, "ids", ids))
    if not found:
        raise RegardError(f"--target {word!r} is no word that this model knows")
    return int(found[0])


def _label(
    trial: AblationTrial, names: dict[str, int], target: str | None
) -> tuple[list[int], str]:
    if target is None:
        with torch.inference_mode():
            best = int(trial.run(1)[0, 0].argmax())
        return [best], next(name for name, i in names.items() if i == best)
    if target not in names:
        known: Sequence[str] = list(names)
        raise RegardError(
            f"--target must be one of the labels {', '.join(known)}, got {target!r}"
            f"{nearest(target, known)}"
        )
    return [names[target]], target
