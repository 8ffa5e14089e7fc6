"""A small language pair."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

GERMAN = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def pairs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """160 numbers of three and four digits, German TAB English."""
    rows = []
    for number in [*range(100, 500, 5), *range(1000, 9000, 100)]:
        digits = [int(d) for d in str(number)]
        rows.append(
            " ".join(GERMAN[d] for d in digits) + "\t" + " ".join(ENGLISH[d] for d in digits)
        )
    path = tmp_path_factory.mktemp("data") / "numbers.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
