"""Attention: the four verbs. Start with attend.py.

score  how well does each key fit the query?     score.py
mask   which keys may it see at all?             mask.py
weigh  softmax: shares that sum to 1             attend.py
mix    the values, by their shares               attend.py
"""

from regard.attention.attend import Attended, attend, mix, weigh
from regard.attention.map import AttentionMap, HeadMap, Link, StoredMap
from regard.attention.mask import Mask, causal, padding, window
from regard.attention.multihead import KeyValueCache, MultiHeadAttention
from regard.attention.score import Additive, Bilinear, additive, bilinear, dot, scaled_dot
from regard.attention.self_attention import self_attention
from regard.text import Word

__all__ = [
    "Additive",
    "Attended",
    "AttentionMap",
    "Bilinear",
    "HeadMap",
    "KeyValueCache",
    "Link",
    "Mask",
    "MultiHeadAttention",
    "StoredMap",
    "Word",
    "additive",
    "attend",
    "bilinear",
    "causal",
    "dot",
    "mix",
    "padding",
    "scaled_dot",
    "self_attention",
    "weigh",
    "window",
]
