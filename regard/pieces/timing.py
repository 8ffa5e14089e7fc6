"""Timing: how well each head of cross-attention aligns the words of a text with a sound.

Plain data: what inside/heads/timing.py finds out, and what the terminal and JSON show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regard.pieces.heads import HeadPlace, short


@dataclass(frozen=True)
class HeadTiming:
    """One head; every figure is from 0 (or −1) to 1."""

    order: float
    """Whether later tokens look at later moments: 1 always, 0 no order, −1 always at earlier."""
    sharp: float
    """The weight in the best window of each token, on average."""
    sound: float
    """The weight on the sound, on average over tokens: the rest goes to padding."""

    @property
    def score(self) -> float:
        """order × sharp; 0 without order, or against it."""
        return max(0.0, self.order) * self.sharp


@dataclass(frozen=True)
class Timings:
    """All heads of a decoder's cross-attention, by one sound and the text of it."""

    model: str
    text: list[str]
    """The tokens that count: not the special ones."""
    seconds: float
    """How long the sound is,"""
    pieces: int
    """in how many pieces it is read,"""
    padding: int
    """and how many pieces of padding stand behind them."""
    window: float
    """Seconds of a window."""
    heads: dict[HeadPlace, HeadTiming]
    named: list[HeadPlace]
    """Those that the model's own generation_config names as ``alignment_heads``."""

    def ranked(self) -> list[HeadPlace]:
        """By their scores, the best first."""
        return sorted(sorted(self.heads), key=lambda place: -self.heads[place].score)

    def ahead(self) -> float | None:
        """How often a head that the model names has a better score than one that it does not name
        (equal ones count half): 0.5 by chance; None unless there are both."""
        named = [self.heads[place].score for place in self.named]
        others = [each.score for place, each in self.heads.items() if place not in self.named]
        if not named or not others:
            return None
        won = sum((a > b) + 0.5 * (a == b) for a in named for b in others)
        return won / (len(named) * len(others))

    def to_json(self) -> dict[str, Any]:
        """The heads in their order, the best first."""
        ahead = self.ahead()
        return {
            "model": self.model,
            "tokens": self.text,
            "seconds": self.seconds,
            "pieces": self.pieces,
            "padding": self.padding,
            "window": self.window,
            "alignment_heads": [list(place) for place in self.named],
            "ahead": None if ahead is None else short(ahead),
            "heads": [
                {
                    "layer": place[0],
                    "head": place[1],
                    "score": short(self.heads[place].score),
                    "order": short(self.heads[place].order),
                    "sharp": short(self.heads[place].sharp),
                    "sound": short(self.heads[place].sound),
                    "named": place in self.named,
                }
                for place in self.ranked()
            ],
        }
