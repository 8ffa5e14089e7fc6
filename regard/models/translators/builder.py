"""Builder: the translator of a config."""

from __future__ import annotations

from regard.models.translators.bahdanau import Bahdanau
from regard.models.translators.base import Translator
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.encoderdecoder import EncoderDecoder
from regard.models.translators.lstmn import LSTMNTranslator
from regard.models.translators.transformer import Transformer
from regard.models.translators.wordbyword import WordByWord

CLASSES: dict[str, type[Translator]] = {
    "word-by-word": WordByWord,
    "encoder-decoder": EncoderDecoder,
    "bahdanau": Bahdanau,
    "lstmn-shallow": LSTMNTranslator,
    "lstmn-deep": LSTMNTranslator,
    "transformer": Transformer,
}


def build(config: TranslatorConfig) -> Translator:
    """The translator that ``config`` describes, with fresh weights from torch's random state."""
    return CLASSES[config.model](config)
