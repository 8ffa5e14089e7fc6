"""The configuration of a BERT: what cannot be is said."""

from __future__ import annotations

import pytest

from regard.errors import ConfigError
from regard.models.bert.config import BertConfig


def test_wrong_settings() -> None:
    with pytest.raises(ConfigError, match="heads must divide width, got 5 and 7; dropout must be"):
        BertConfig(width=7, heads=5, dropout=1.5)
    with pytest.raises(ConfigError, match="layers must be a whole number of at least 1, got 0"):
        BertConfig(layers=0)
    with pytest.raises(ConfigError, match="epsilon must be more than 0"):
        BertConfig(epsilon=0.0)
