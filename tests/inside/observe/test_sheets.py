"""An observed layer as plain data: vectors, what proves them, and the texts it is between."""

from __future__ import annotations

import numpy as np
import torch

import regard
from regard.inside.observe.sheets import sheet_of
from regard.pieces.marks import from_labels
from tests.views.page.cases import TOKENS, Net, observed


def test_a_layer_is_its_vectors_and_what_the_model_mixed() -> None:
    observation = observed(TOKENS, layers=2, width=30, heads=3)
    texts = [from_labels(TOKENS)]
    sheet = sheet_of(observation.layers[1], 0, (TOKENS, TOKENS), texts)
    item = observation.layers[1].item()
    assert (sheet.number, sheet.queries, sheet.keys, sheet.kind) == (1, 0, 0, "self")
    assert len(texts) == 1, "the text was there"
    np.testing.assert_array_equal(sheet.query, item.query)
    np.testing.assert_array_equal(sheet.value, item.value)
    weights = torch.stack([observation[1, head].dense() for head in range(3)])
    assert sheet.context is not None
    np.testing.assert_allclose(sheet.context, weights @ item.value, rtol=1e-4)
    scores = item.query @ item.key.mT * sheet.scale
    assert sheet.lse is not None
    np.testing.assert_allclose(sheet.lse, scores.logsumexp(-1), rtol=1e-5)


def test_texts_that_nobody_named_are_numbered() -> None:
    net = Net(1, 6, 2)
    with regard.observe(net) as observation:
        net(torch.randn(1, 3, 6))
    subject = observation.subject()
    assert [text.labels for text in subject.texts] == [["0", "1", "2"]]
    assert subject.sheets[0].value is None
