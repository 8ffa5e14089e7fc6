"""Positions: what tells self-attention where a word stands.

Attention alone does not know order: shuffle the words and the outputs are shuffled with them.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.errors import ShapeError


def sinusoidal(
    positions: int, width: int, *, first: int = 0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """The table (positions, width) of the original Transformer (Vaswani et al. 2017, section 3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i/width)),  PE(pos, 2i+1) = cos(the same)

    Computed in float64: far positions need the digits.
    """
    position = torch.arange(first, first + positions, dtype=torch.float64).unsqueeze(-1)
    angle = position / 10000 ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
    table = torch.stack((angle.sin(), angle.cos()), -1).flatten(-2)
    return table[:, :width].to(dtype)  # an odd width has a sine without its cosine


class Learned(nn.Module):
    """A trained vector for each of ``positions`` places, to be added to the embeddings."""

    def __init__(self, positions: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(positions, width))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, length: int, first: int = 0) -> Tensor:
        """The vectors of positions first … first + length − 1, (length, width)."""
        if first < 0 or length < 0:
            raise ShapeError(
                f"learned positions are counted from 0, got length {length} and first {first}"
            )
        if first + length > self.weight.shape[0]:
            raise ShapeError(
                f"learned positions end at {self.weight.shape[0]}, got a text up to position "
                f"{first + length}; shorten the text or use sinusoidal or rotary positions"
            )
        return self.weight[first : first + length]


class Rotary(nn.Module):
    """Turn queries and keys by an angle that grows with the position (Su et al. 2021, section 3.2).

    Pair i of position p turns by p · base^(−2i/width), so that q_p · k_s depends on content and
    on p − s only. Pairs are (x_i, x_{i + width/2}), as in Llama's weights, or neighbours
    (x_{2i}, x_{2i+1}), as in the paper, with ``interleaved=True``.
    """

    def __init__(self, width: int, *, base: float = 10000.0, interleaved: bool = False) -> None:
        super().__init__()
        if width < 2 or width % 2:
            raise ShapeError(
                f"rotary positions turn pairs of numbers: width must be even, got {width}"
            )
        self.width, self.base, self.interleaved = width, base, interleaved

    def forward(self, x: Tensor, first: int = 0) -> Tensor:
        """``x`` (..., n, width), whose first row stands at position ``first``, turned."""
        if x.dim() < 2 or x.shape[-1] != self.width:
            raise ShapeError(
                f"these rotary positions turn vectors of width {self.width}, (..., n, "
                f"{self.width}), got {tuple(x.shape)}; in a layer use Rotary(head_width)"
            )
        # In float64 on each call: a buffer would lose its digits in a model made half precision.
        pair = torch.arange(0, self.width, 2, dtype=torch.float64, device=x.device)
        position = torch.arange(
            first, first + x.shape[-2], dtype=torch.float64, device=x.device
        ).unsqueeze(-1)
        angle = position * self.base ** (-pair / self.width)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = (x[..., ::2], x[..., 1::2]) if self.interleaved else x.chunk(2, -1)
        turned = (a * cos - b * sin, a * sin + b * cos)
        return torch.stack(turned, -1).flatten(-2) if self.interleaved else torch.cat(turned, -1)
