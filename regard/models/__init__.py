"""Models built from the bricks: translators, language models, classifiers, BERT.

config.py, sizes.py   what a translator is made of; named sizes
translator.py         what all designs have in common: forward, loss, start, step
wordbyword.py         a word said for each word read
encoderdecoder.py     the sentence squeezed into one vector
bahdanau.py           the decoder looks back before each word
lstmn.py              the encoder and the decoder look back at themselves too
transformer.py        attention alone (layers.py)
decode.py             greedy and beam search over any of them
design.py, body.py    which network reads the words of a language model or a classifier
language.py           the probability of each next word
classifier.py         the label of a sentence
account.py            what these did while they read a sentence
bert.py               the encoder alone; bertfile.py, berttext.py read published weights and text
"""

from regard.models.translators.base import (
    MODELS,
    SIZES,
    Loss,
    Translator,
    TranslatorConfig,
    build,
    sized,
)
from regard.models.translators.beam import Hypothesis, translate_batch

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
