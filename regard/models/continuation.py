"""Continuation: the words that a language model says after a text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.errors import ConfigError
from regard.models.language import LanguageModel
from regard.models.reading import prepared
from regard.models.sampling import Sampling
from regard.models.translators.candidates import log_norms, silence
from regard.pieces.tokenizer import BOS, EOS, UNK, Tokenizer
from regard.recurrent import Tapes

MOST_WORDS = 200
"""To be said: a Transformer reads all of them again for each new one."""
MOST_SAMPLES = 100
PIECES = 8
"""Tokens of a word, on the average, at which a text that does not end is cut."""


@dataclass(frozen=True)
class Continuation:
    """A text and what a language model said after it."""

    text: str
    """Both together."""
    said: str
    """What is new, with the space before it, if there is one."""
    log_p: float
    """log p of the tokens that were said, the natural logarithm; of the end too, if it was."""
    finished: bool
    """Whether the model said the end of the sentence within the words it was allowed."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "said": self.said,
            "log_p": round(self.log_p, 6),
            "finished": self.finished,
        }


@torch.no_grad()
def continue_text(
    model: LanguageModel,
    tokens: Tokenizer,
    text: str,
    words: int,
    *,
    samples: int = 1,
    sampling: Sampling | None = None,
    number: int = 0,
) -> list[Continuation]:
    """At most ``words`` words after ``text``: the likeliest token each time, or ``samples`` texts
    drawn by ``sampling``; ``number`` says which text of the user's this is, and decides the chance.

    A text that is empty begins a sentence. The mark for unknown words is never said.
    """
    _check(words, samples, sampling)
    text = prepared(tokens, text.strip())
    read = [BOS, *tokens.encode(text)]
    chances = sampling.chances([number], samples) if sampling else []
    ids = torch.tensor([read] * samples, device=model.device)
    said = [_Said(tokens, read[1:], words) for _ in range(samples)]
    new, state = ids, None
    model.eval()
    while any(one.open for one in said):
        logits, state = _next(model, ids, new, state)
        norms = log_norms(logits)
        silence(logits)
        logits[:, UNK] = -torch.inf
        if sampling:
            here = torch.tensor([chance.random() for chance in chances], device=ids.device)
            chosen = sampling.draw(logits, here)
        else:
            chosen = logits.argmax(-1)
        worth = logits.gather(-1, chosen.unsqueeze(-1)).squeeze(-1) - norms
        for one, token, log_p in zip(said, chosen.tolist(), worth.tolist(), strict=True):
            one.add(token, log_p)
        new = chosen.unsqueeze(-1)
        ids = torch.cat((ids, new), -1)
    return [one.continuation(text) for one in said]


def _next(
    model: LanguageModel, ids: Tensor, new: Tensor, state: Tapes | None
) -> tuple[Tensor, Tapes | None]:
    """Scores (N, V) of the next token. A recurrent design reads what is ``new`` and goes on from
    its state; the Transformer has none and reads all ``ids`` again."""
    features, after = model.features(ids if state is None else new, state)
    return model.logits(features[:, -1]), after


class _Said:
    """One continuation, as far as it is said."""

    def __init__(self, tokens: Tokenizer, read: list[int], words: int) -> None:
        self.tokens, self.read, self.words = tokens, read, words
        self.before = tokens.decode(read)
        self.ids: list[int] = []
        self.log_p = 0.0
        self.finished, self.open = False, True

    def add(self, token: int, log_p: float) -> None:
        """One more token; it is the last one if it ends the sentence or begins a word too many."""
        if not self.open:
            return
        self.finished = token == EOS
        self.open = not self.finished and len(self.ids) < PIECES * self.words
        if not self.finished:
            self.ids.append(token)
            if len(self.text().split()) > self.words:
                self.ids.pop()
                self.open = False
                return
        self.log_p += log_p

    def text(self) -> str:
        """What is new."""
        return self.tokens.decode([*self.read, *self.ids]).removeprefix(self.before)

    def continuation(self, text: str) -> Continuation:
        return Continuation((text + self.text()).strip(), self.text(), self.log_p, self.finished)


def _check(words: int, samples: int, sampling: Sampling | None) -> None:
    problems = []
    if not 1 <= words <= MOST_WORDS:
        problems.append(f"a text is continued by 1 to {MOST_WORDS} words, got {words}")
    if not 1 <= samples <= MOST_SAMPLES:
        problems.append(f"samples must be from 1 to {MOST_SAMPLES}, got {samples}")
    if samples > 1 and sampling is None:
        problems.append(f"the likeliest words are one text: {samples} texts must be sampled")
    if problems:
        raise ConfigError("; ".join(problems))
