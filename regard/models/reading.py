"""Reading: what a model did while it read a sentence, word by word.

Everything here is what the model itself noted while it ran (``record()``); only the pieces of a
word are put together: what a word attends to is the mean over its pieces, how much it is attended
to is their sum, its surprisal is their sum.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.errors import DataError
from regard.models.classifier import Classifier
from regard.models.labeller import Labeller
from regard.models.language import LanguageModel
from regard.models.notedattention import ATTENTION, attention_of, attention_steps, of_head
from regard.pieces.grouping import by_word
from regard.pieces.pieces import Pieces
from regard.pieces.text import learned_pieces, spaced_pieces
from regard.pieces.tokenise import split
from regard.pieces.tokenizer import BOS, EOS, SPECIAL, Tokenizer
from regard.record import record
from regard.trace import Array, Step, Trace

LOOSE = re.compile(r"\s+([.,!?;:])(?=\s|$)")
"""A mark that stands apart, as in text that is cut into words already."""

MOST_TOKENS = 4096
"""Of one text: some 70 MB for each layer and head."""
MOST_TRACED = 512
"""Of one text of which every step is kept: some 200 MB for each layer."""


@dataclass(frozen=True)
class SentenceReading:
    """A sentence as a language model read it."""

    model: str
    """The design."""
    pieces: Pieces
    """What it read; the first piece is <s>, the beginning of every sentence."""
    surprisal: Array
    """−log2 p(word | words before it), in bits; 0 for <s>, which is given."""
    end: float
    """That of the sentence's end."""
    attention: Array
    """(layers, heads, words, words): of each word, its weight of every word it can attend to; no
    layers for a design without attention."""
    trace: Trace
    """Everything that was noted, of the model's own tokens."""

    @property
    def words(self) -> list[str]:
        """The first one is <s>."""
        return [word.text for word in self.pieces.words]

    @property
    def perplexity(self) -> float:
        """2^(bits per word and end)."""
        return float(2 ** ((self.surprisal.sum() + self.end) / len(self.words)))

    def weights(self, layer: int | None = None, head: int | None = None) -> Array:
        """(words, words) of a layer, the last if not given, and a head, the mean if not given."""
        return of_head(self.attention, layer, head)

    def summary(self) -> Trace:
        """Words, surprisal and attention as a trace, for other programs."""
        steps = [
            Step(
                "surprisal",
                self.surprisal,
                axes=("word",),
                labels={"word": self.words},
                formula="−log2 p(w_t | w_1 … w_{t-1})",
                meaning="How many bits the model had not expected of each word.",
            )
        ]
        steps += attention_steps(self.attention, self.words)
        return Trace(steps, mechanism=self.model, tokens=self.words)


@dataclass(frozen=True)
class LabelReading:
    """A sentence as a labeller read it: a label for each of its words."""

    model: str
    pieces: Pieces
    labels: list[str]
    """All that the model knows."""
    probabilities: Array
    """(words, labels)"""
    attention: Array
    """(layers, heads, words, words), as of :class:`SentenceReading`."""
    trace: Trace

    @property
    def words(self) -> list[str]:
        return [word.text for word in self.pieces.words]

    @property
    def said(self) -> list[str]:
        """The likeliest label of each word."""
        return [self.labels[i] for i in self.probabilities.argmax(-1).tolist()]

    def summary(self) -> Trace:
        """Words, labels, their probabilities and attention as a trace, for other programs."""
        step = Step(
            "probabilities",
            self.probabilities,
            axes=("word", "label"),
            labels={"word": self.words, "label": self.labels},
            formula="softmax(W_o s_w + b)",
            meaning="How likely each label is for each word.",
        )
        steps = [step, *attention_steps(self.attention, self.words)]
        return Trace(steps, mechanism=self.model, tokens=self.words)


@dataclass(frozen=True)
class Verdict:
    """A sentence as a classifier judged it."""

    model: str
    pieces: Pieces
    labels: list[str]
    probabilities: Array
    """(labels,)"""
    weights: Array
    """(words,): how much of each word's state is in what decided; they sum to 1."""
    trace: Trace

    @property
    def words(self) -> list[str]:
        return [word.text for word in self.pieces.words]

    @property
    def label(self) -> str:
        """The likeliest label."""
        return self.labels[int(self.probabilities.argmax())]

    def summary(self) -> Trace:
        """Words, weights and probabilities as a trace, for other programs."""
        steps = [
            Step(
                "weights",
                self.weights,
                axes=("word",),
                labels={"word": self.words},
                formula="a_j",
                meaning="How much of each word's state is in what decided.",
            ),
            Step(
                "probabilities",
                self.probabilities,
                axes=("label",),
                labels={"label": self.labels},
                formula="softmax(W_o r + b)",
                meaning="How likely each label is to the model.",
            ),
        ]
        return Trace(steps, mechanism=self.model, tokens=self.words)


def read_sentence(
    model: LanguageModel, tokens: Tokenizer, text: str, *, traced: bool = True
) -> SentenceReading:
    """Read ``text`` with a language model, and note what it does: unless ``traced``, its attention
    alone, which needs less room by the width of the model."""
    pieces = _read(tokens, text, traced).after(SPECIAL[BOS], BOS)
    name, only = model.config.model, None if traced else ATTENTION
    with torch.no_grad(), record(name, pieces.labels, only=only) as trace:
        logits = model.eval()(torch.tensor([pieces.ids], device=model.device))[0]
    bits = -logits.double().log_softmax(-1).cpu() / math.log(2)
    following = torch.tensor([*pieces.ids[1:], EOS])
    surprisal = bits.gather(-1, following.unsqueeze(-1)).squeeze(-1).numpy()
    own = np.concatenate(([0.0], surprisal[:-1]))
    return SentenceReading(
        name,
        pieces,
        by_word(own, pieces.words, mean=False),
        float(surprisal[-1]),
        attention_of(trace, pieces.words),
        trace,
    )


def judge_sentence(
    model: Classifier, tokens: Tokenizer, text: str, *, traced: bool = True
) -> Verdict:
    """Judge ``text`` with a classifier, and note what it does: unless ``traced``, its attention
    alone."""
    pieces = _read(tokens, text, traced)
    device, only = model.device, None if traced else ATTENTION
    with torch.no_grad(), record(model.config.model, pieces.labels, only=only) as trace:
        logits, weights = model.eval()(
            torch.tensor([pieces.ids], device=device), torch.tensor([len(pieces)], device=device)
        )
    return Verdict(
        model.config.model,
        pieces,
        list(model.config.labels),
        logits[0].softmax(-1).cpu().numpy(),
        by_word(weights[0].cpu().numpy(), pieces.words, mean=False),
        trace,
    )


def label_sentence(
    model: Labeller, tokens: Tokenizer, text: str, *, traced: bool = True
) -> LabelReading:
    """Label each word of ``text``, cut as :mod:`~regard.pieces.tokenise` cuts it, and note what the
    model does: unless ``traced``, its attention alone."""
    words = split(text)
    pieces = _bounded(spaced_pieces(tokens, words) if words else Pieces.plain([]), traced)
    numbers = [[i for i, word in enumerate(pieces.words) for _ in range(word.start, word.stop)]]
    given = ([pieces.ids], [len(pieces)], numbers)
    tensors = tuple(torch.tensor(each, device=model.device) for each in given)
    return _labelled(model, pieces, tensors, traced)


def label_pieces(
    model: Labeller, numbers: Tensor, pieces: Pieces, *, traced: bool = True
) -> LabelReading:
    """Label each of these ``pieces``, that are ``numbers`` (n, numbers): patches or steps."""
    given = numbers.unsqueeze(0).to(model.device), torch.tensor([len(pieces)], device=model.device)
    return _labelled(model, pieces, given, traced)


def _labelled(
    model: Labeller, pieces: Pieces, given: tuple[Tensor, ...], traced: bool
) -> LabelReading:
    """What ``model`` says of pieces that it is ``given``, and what it notes."""
    name, only = model.config.model, None if traced else ATTENTION
    with torch.no_grad(), record(name, pieces.labels, only=only) as trace:
        logits = model.eval()(*given)
    return LabelReading(
        name,
        pieces,
        list(model.config.labels),
        logits[0].softmax(-1).cpu().numpy(),
        attention_of(trace, pieces.words),
        trace,
    )


def _read(tokens: Tokenizer, text: str, traced: bool) -> Pieces:
    """The pieces of a text, of which there may not be too many."""
    return _bounded(learned_pieces(tokens, [prepared(tokens, text)])[0], traced)


def _bounded(pieces: Pieces, traced: bool) -> Pieces:
    """What is noted of pieces grows with the square of their number: too many are refused before
    the room is taken."""
    most = MOST_TRACED if traced else MOST_TOKENS
    if len(pieces) > most:
        why = ", of which every step is kept" if traced else ""
        raise DataError(
            f"a text may have {most:,} tokens{why}, this one has {len(pieces):,}: every word "
            "attends to all before it; give its sentences one a line, each is read on its own"
        )
    if not len(pieces):
        raise DataError("there is nothing to read: the text is empty or all white space")
    return pieces


def prepared(tokens: Tokenizer, text: str) -> str:
    """``text`` with its punctuation where the model's own text had it.

    A model of text that is in words already ("space") has marks apart, and perhaps no capital
    letters: a word that it knows in small letters only is read so. Any other has marks at the word
    before.
    """
    if not tokens.spaced:
        return LOOSE.sub(r"\1", text)

    def known(word: str) -> str:
        """The word as the vocabulary has it, or nothing."""
        forms = (word, word.lower())
        return next((form for form in forms if tokens.tokenizer.token_to_id(form)), "")

    words = [
        known(word) or word
        for chunk in text.split()
        for word in ([chunk] if known(chunk) else split(chunk))
    ]
    return " ".join(words)
