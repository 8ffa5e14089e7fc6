"""Samples: translations drawn by their probability, token by token."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.models.sampling import Sampling
from regard.models.translators.base import Hypothesis, Translator
from regard.models.translators.beam import evaluating, longest
from regard.models.translators.candidates import log_norms, silence
from regard.pieces.tokenizer import BOS, EOS


@torch.no_grad()
def sample_batch(
    model: Translator,
    source: Tensor,
    lengths: Tensor,
    sampling: Sampling,
    *,
    numbers: Sequence[int] | None = None,
    samples: int = 1,
    length_penalty: float = 1.0,
    max_length: int | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> list[list[Hypothesis]]:
    """``samples`` translations of each of ``source`` (B, S), in the order in which they are drawn.

    ``numbers`` (0, 1, … if not given) say which sentence of the user's each is: its chance hangs
    on that. The score is that of beam search, log p / length^length_penalty, of the model's own p:
    temperature and top_p change what is drawn, not what it is worth.
    """
    with evaluating(model):
        numbers = range(len(lengths)) if numbers is None else numbers
        chances = sampling.chances(numbers, samples)
        source, lengths = (t.repeat_interleave(samples, 0) for t in (source, lengths))
        state = model.start(source, lengths, layer=layer, head=head)
        drawn = [_Drawn() for _ in chances]
        live = torch.arange(len(drawn), device=source.device)
        limits, tokens = longest(lengths, max_length).tolist(), torch.full_like(lengths, BOS)
        while len(live):
            step = model.step(state, tokens)
            norms = log_norms(step.logits).double()
            silence(step.logits)
            here = torch.tensor([chances[i].random() for i in live.tolist()], device=live.device)
            tokens = sampling.draw(step.logits, here)
            worth = step.logits.gather(-1, tokens.unsqueeze(-1)).squeeze(-1).double() - norms
            for row, i in enumerate(live.tolist()):
                looked = None if step.weights is None else step.weights[row, : int(lengths[i])]
                drawn[i].add(int(tokens[row]), float(worth[row]), looked)
            on = [n for n, i in enumerate(live.tolist()) if drawn[i].open(limits[i])]
            going = torch.tensor(on, dtype=torch.long, device=live.device)
            if len(going) < len(live):
                live, tokens = live[going], tokens[going]
                if len(going):
                    state.select(going)
        found = [one.hypothesis(length_penalty) for one in drawn]
        return [found[i : i + samples] for i in range(0, len(found), samples)]


class _Drawn:
    """One sample, as far as it is drawn."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.total = 0.0
        self.looked: list[Tensor] = []

    def add(self, token: int, worth: float, looked: Tensor | None) -> None:
        self.ids.append(token)
        self.total += worth
        if looked is not None:
            self.looked.append(looked.cpu())

    def open(self, limit: int) -> bool:
        """Whether there is more to be said."""
        return self.ids[-1] != EOS and len(self.ids) < limit

    def hypothesis(self, penalty: float) -> Hypothesis:
        finished = self.ids[-1] == EOS
        return Hypothesis(
            self.ids[:-1] if finished else self.ids,
            self.total / len(self.ids) ** penalty,
            torch.stack(self.looked) if self.looked else None,
            finished,
        )
