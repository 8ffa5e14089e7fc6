"""A subject as the page's JSON: what stands in it, and which arrays are packed."""

from __future__ import annotations

import json

import numpy as np

from regard.pieces.marks import from_labels
from regard.pieces.sheet import Known, Sheet, Subject
from regard.views.page.data import subject_data
from regard.views.page.pack import Pack


def test_a_subject_is_json_and_its_arrays_are_packed() -> None:
    text = from_labels(["[CLS]", "un", "##likely", "[SEP]"])
    query, key = np.ones((2, 4, 3), np.float32), np.zeros((2, 4, 3), np.float32)
    sheet = Sheet("layer 5", 5, 0, 0, heads=(1, 7), query=query, key=key, allowed=np.eye(4) > 0)
    sheet.known["x"] = Known(np.ones((4, 11), np.float32), "x = 1", "ones", after=True)
    pack = Pack(half=False)
    data = subject_data(Subject("a title", [text], [sheet], start={"head": 7}), pack)
    assert json.loads(json.dumps(data)) == data
    assert (data["title"], data["start"]) == ("a title", {"head": 7})
    (words,) = data["texts"]
    assert words["tokens"] == ["[CLS]", "un", "##likely", "[SEP]"]
    assert words["special"] == [0, 3]
    (layer,) = data["layers"]
    assert (layer["number"], layer["shape"], layer["heads"]) == (5, [4, 4], [1, 7])
    assert pack.entries[layer["allowed"]]["shape"] == [1, 4, 4], "axes for heads, queries and keys"
    assert layer["weights"] is layer["bias"] is None
    assert layer["known"]["x"]["formula"] == "x = 1"
    assert pack.entries[layer["known"]["x"]["value"]]["shape"] == [4, 11]
