from __future__ import annotations

import numpy as np
import torch

from regard import record
from regard.recurrent import Bidirectional
from tests.recurrent import reference


def test_reads_each_sequence_from_both_its_ends() -> None:
    reader = Bidirectional(3, 5).double()
    x, lengths = reference.random(3, 7, 3), torch.tensor([7, 2, 5])
    got = reader(x, lengths).detach().numpy()
    p = reference.numpy_of(reader)
    zero = np.zeros(5)
    for b, n in enumerate(lengths.tolist()):
        row = x[b, :n].numpy()
        forwards = reference.gated(reference.part(p, "forwards"), row, zero)
        backwards = reference.gated(reference.part(p, "backwards"), row[::-1], zero)[::-1]
        expected = np.hstack((forwards, backwards))
        np.testing.assert_allclose(got[b, :n], expected, rtol=0, atol=1e-10)


def test_padding_changes_nothing() -> None:
    reader = Bidirectional(3, 5).double()
    x, lengths = reference.random(2, 7, 3), torch.tensor([4, 6])
    other = x.clone()
    other[0, 4:], other[1, 6:] = 9, -9
    for b, n in enumerate(lengths.tolist()):
        same = reader(x, lengths)[b, :n], reader(other, lengths)[b, :n]
        torch.testing.assert_close(*same, rtol=0, atol=0)


def test_record_names_both_directions() -> None:
    with record() as trace:
        Bidirectional(3, 5)(torch.ones(1, 7, 3))
    assert [step.path for step in trace] == [
        "forward/input",
        "forward/states",
        "backward/input",
        "backward/states",
        "annotations",
    ]
    assert trace["annotations"].value.shape == (1, 7, 10)
