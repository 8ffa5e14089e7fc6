"""Headings and vectors, which several views print."""

from __future__ import annotations

import io

import numpy as np
import pytest

from regard.views.terminal.console import make_console
from regard.views.terminal.lines import print_heading, print_vectors


def test_a_heading_and_what_it_means(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    file = io.StringIO()
    print_heading(make_console(file), 2, "Scores", "q · k", "How well they fit.")
    assert file.getvalue() == "2  Scores   q · k\n   How well they fit.\n"


def test_vectors_are_cut_or_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("a", np.arange(30.0)), ("long", np.array([1.0, 2.0]))]
    cut, full = io.StringIO(), io.StringIO()
    print_vectors(make_console(cut), rows)
    print_vectors(make_console(full), rows, everything=True)
    assert "30 in all]" in cut.getvalue().splitlines()[0]
    assert cut.getvalue().splitlines()[0].startswith("   a    [")
    assert len(cut.getvalue().splitlines()) == 2
    assert "29" in full.getvalue()
    assert "in all" not in full.getvalue()
    assert max(map(len, full.getvalue().splitlines())) <= 40
