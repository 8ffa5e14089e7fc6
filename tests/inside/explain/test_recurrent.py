"""What all recurrent models have in common to be explained: the choice, the bounds, the hearing."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.errors import DataError, RegardError
from regard.inside.explain import captions
from regard.inside.explain.reader import ReaderModel
from regard.inside.explain.recurrent import MOST, StepTexts, hearing
from regard.inside.explain.writer import WriterModel
from tests.inside.explain.steps import reader_of, writer_of

TEXT = "the cat sat on the mat"


def test_the_last_call_of_a_module_is_heard() -> None:
    double, deaf = nn.Linear(1, 1, bias=False), nn.Identity()
    nn.init.constant_(double.weight, 2.0)
    with hearing([double, deaf]) as heard:
        double(torch.tensor([3.0]))
        double(torch.tensor([5.0]))
    double(torch.tensor([7.0]))
    assert heard[0].given == (torch.tensor([5.0]),)
    assert heard[0].made.item() == 10
    assert (heard[1].given, heard[1].made) == ((), None)


def test_the_strongest_link_is_chosen_of_all_layers() -> None:
    model = ReaderModel(reader_of("lstmn"))
    found = model.explain(TEXT, "mat")
    assert found.choice is not None
    assert found.choice.heads == 2
    assert captions.format_choice(found).startswith("Chosen: of 2 layers the one with the largest")
    place = f"own, layer {found.layer} of 2, counted from 0, step {found.token + 1} (recurrent)"
    assert captions.format_place(found) == place
    assert captions.format_question(found) == (
        "What does reading '▁mat' take from the tape, and which word comes next?"
    )
    assert "A weight does not show" in captions.format_limits(found)
    assert captions.format_decoding(found) == ""
    assert found.trace.mechanism == f"own layer {found.layer} step {found.token + 1}"
    asked = model.explain(TEXT, "mat", "cat", layer=1)
    assert (asked.choice, asked.layer, asked.to.text) == (None, 1, "cat")
    with pytest.raises(RegardError, match="own has 2 layers, counted from 0"):
        model.explain(TEXT, layer=2)


def test_a_decoder_is_asked_for_what_it_writes() -> None:
    model = writer_of("bahdanau")
    found = WriterModel(model, "the dog sat").explain(TEXT, "dog")
    asked = captions.format_question(found)
    assert asked == "What does writing '▁dog' take from the source, and what is written?"
    assert captions.format_decoding(found) == (
        "The decoder has read '▁the', and writes '▁dog' from what it takes here."
    )
    first = WriterModel(model, "the dog sat").explain(TEXT, "the")
    assert "has read nothing yet, and writes '▁the'" in captions.format_decoding(first)
    read = model.read(TEXT)
    texts = StepTexts(read, model.target(read, "the dog"))
    assert texts.queries.labels == ["▁the", "▁dog", "</s>"]
    assert texts.queries.words[1].start == 1


def test_what_is_too_long_or_says_nothing() -> None:
    model = ReaderModel(reader_of("lstmn"))
    with pytest.raises(DataError, match=rf"it may have {MOST} tokens, this one has [\d,]+; give"):
        model.explain("the cat " * MOST)
