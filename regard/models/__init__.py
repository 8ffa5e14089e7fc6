"""Models built from the bricks. Translators: from the word-by-word RNN to the Transformer.

config.py, sizes.py   what a translator is made of; named sizes
translator.py         what all designs have in common: forward, loss, start, step
wordbyword.py         a word said for each word read
encoderdecoder.py     the sentence squeezed into one vector
bahdanau.py           the decoder looks back before each word
lstmn.py              the encoder and the decoder look back at themselves too
transformer.py        attention alone (layers.py)
decode.py             greedy and beam search over any of them
"""

from regard.models.decode import Hypothesis, translate_batch
from regard.models.translator import (
    MODELS,
    SIZES,
    Loss,
    Translator,
    TranslatorConfig,
    build,
    sized,
)

__all__ = [
    "MODELS",
    "SIZES",
    "Hypothesis",
    "Loss",
    "Translator",
    "TranslatorConfig",
    "build",
    "sized",
    "translate_batch",
]
