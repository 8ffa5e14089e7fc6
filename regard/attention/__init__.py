"""Attention: the four verbs. START HERE, with attend.py.

score  how well does each key fit the query?     score.py
mask   which keys may it see at all?             mask.py
weigh  softmax: shares that sum to 1             rule.py
mix    the values, by their shares               attend.py

attend.py          the four verbs in a row, with every value at hand; or a fused kernel (fused.py)
self_attention.py  queries, keys and values made of vectors by matrices; heads
multihead.py       the same as a module to train with
rule.py            from queries and keys to weights: scale, soft cap, bias, mask, softmax
gradient.py        how weights move with scores
map.py             an attention matrix computed where you look
statistics.py      what is to be known of weights that nobody keeps (wanted.py), in one pass
kernel/            the native library; private.py: what regard knows of PyTorch's inside;
                   processor.py: what the system says of the processor
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
