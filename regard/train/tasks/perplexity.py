"""Perplexity: how well a language model predicts a text, by the sentence or as a stream.

perplexity = exp(−sum log p(token) / tokens), over every token and the end of every line
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.models.language import LanguageModel
from regard.pieces.tokenizer import BOS, EOS, PAD, UNK, Tokenizer
from regard.recurrent import Tapes
from regard.train.data.batches import padded, plan
from regard.train.data.corpus import encode


@dataclass(frozen=True)
class TextScore:
    """How well a language model predicts a text; logarithms are natural."""

    sentences: int
    tokens: int
    """Predicted tokens, the ends of lines among them."""
    words: int
    """Words between spaces, and the ends of lines."""
    unknown: int
    """Tokens that are <unk>: text that the vocabulary does not have, or has marked so."""
    loss: float
    """−sum log p over all tokens."""
    continuous: bool

    @property
    def perplexity(self) -> float:
        """Per token: exp(loss / tokens)."""
        return math.exp(min(self.loss / self.tokens, 700.0))

    @property
    def word_perplexity(self) -> float:
        """Per word, whatever the tokens are: exp(loss / words)."""
        return math.exp(min(self.loss / self.words, 700.0))


@torch.no_grad()
def score_text(
    model: LanguageModel,
    tokens: Tokenizer,
    texts: Sequence[str],
    *,
    continuous: bool = False,
    chunk: int = 35,
    batch_tokens: int = 2000,
) -> TextScore:
    """Perplexity of ``texts``, each on its own or, ``continuous``, as one stream.

    How many go together, and in a stream the size of its pieces, changes no figure (but the
    Transformer sees no further back than its piece).
    """
    sentences = encode(texts, tokens)
    model.eval()
    total, state = 0.0, None
    if continuous:
        text = in_streams(sentences, 1)
        for piece in range(pieces(text, chunk)):
            loss, state = piece_loss(model, piece_of(text, piece, chunk), state)
            total += float(loss)
    else:
        for rows in sentence_batches(sentences, batch_tokens):
            total += float(sentence_loss(model, [sentences[row] for row in rows]))
    return TextScore(
        len(sentences),
        sum(len(ids) + 1 for ids in sentences),
        sum(len(text.split()) + 1 for text in texts),
        sum(ids.count(UNK) for ids in sentences),
        total,
        continuous,
    )


def convention(continuous: bool) -> str:
    """What the perplexity is of, in a sentence."""
    text = (
        "the text is one stream, the state goes on from line to line"
        if continuous
        else "each line is read on its own"
    )
    return f"perplexity: per token, the end of each line counted as one; {text}"


def sentence_batches(sentences: Sequence[list[int]], tokens: int) -> list[list[int]]:
    """Indices of all sentences in batches, however long the longest is."""
    lengths = [(len(ids) + 2,) for ids in sentences]
    return plan(lengths, max(tokens, *(each[0] for each in lengths)))


def sentence_loss(
    model: LanguageModel, sentences: Sequence[list[int]], smoothing: float = 0.0
) -> Tensor:
    """The sum of the cross-entropies of the sentences' tokens and ends."""
    ids, lengths = padded([[BOS, *words, EOS] for words in sentences])
    device = model.words.device
    return model.loss(ids.to(device), lengths.to(device), smoothing).total


def in_streams(sentences: Sequence[list[int]], streams: int) -> Tensor:
    """Token ids (streams, n + 1): the text after a first EOS, cut into streams of n tokens.

    Each stream begins with the last token of the one before it, which is read and not predicted
    there; the last one is filled with PAD.
    """
    flat = np.array([EOS] + [i for ids in sentences for i in (*ids, EOS)])
    n = math.ceil((len(flat) - 1) / streams)
    rows = [flat[start : start + n + 1] for start in range(0, len(flat) - 1, n)]
    table = np.full((len(rows), n + 1), PAD)
    for filled, row in zip(table, rows, strict=True):
        filled[: len(row)] = row
    return torch.from_numpy(table)


def pieces(text: Tensor, chunk: int) -> int:
    """In how many pieces of ``chunk`` tokens streams are read."""
    return math.ceil((text.shape[1] - 1) / chunk)


def piece_of(text: Tensor, piece: int, chunk: int) -> Tensor:
    """Token ids (streams, up to chunk + 1), the last of a piece being the next one's first."""
    return text[:, piece * chunk : (piece + 1) * chunk + 1]


def piece_loss(
    model: LanguageModel, ids: Tensor, state: Tapes | None, smoothing: float = 0.0
) -> tuple[Tensor, Tapes | None]:
    """The sum of the cross-entropies of a piece's tokens, and the state behind it."""
    ids = ids.to(model.words.device)
    return model.stream_loss(ids[:, :-1], ids[:, 1:], state, smoothing)


def figures(total: float, sentences: Sequence[list[int]]) -> dict[str, float]:
    """Loss per token and perplexity, given the total loss; ends of lines count."""
    loss = total / sum(len(ids) + 1 for ids in sentences)
    return {"loss": loss, "score": math.exp(min(loss, 700.0))}
