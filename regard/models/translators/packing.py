"""Packing: the modules of recurrent translators as maps in the order in which the kernel adds them.

A step's sums are those of the gates z and r, of the readout, and of the candidate: one product of
the word and one of the context gives them all (recurrent.h).
"""

from __future__ import annotations

from torch import Tensor, nn

from regard.attention.kernel.recurrent import UnitWeights
from regard.attention.kernel.weights import LinearMap
from regard.models.translators.maxout import Maxout
from regard.models.vocabulary import Vocabulary
from regard.recurrent import GatedUnit


def unit_weights(unit: GatedUnit) -> UnitWeights:
    """What a unit makes of words and of its state."""
    return UnitWeights(linear_map(unit.inputs), unit.gates, unit.candidate)


def linear_map(linear: nn.Module) -> LinearMap:
    """The weight and the bias of a linear map."""
    assert isinstance(linear, nn.Linear)
    return linear.weight, linear.bias


def readout_maps(readout: Maxout) -> list[LinearMap]:
    """Of every part of a readout."""
    return [linear_map(part) for part in readout.parts]


def step_maps(unit: GatedUnit, inputs: nn.Linear, readout: LinearMap) -> list[LinearMap]:
    """What ``inputs``, of the word or of the context, gives the gates, the readout and the
    candidate."""
    gates = 2 * unit.hidden
    weight, bias = linear_map(inputs)
    if bias is None:
        return [(weight[:gates], None), readout, (weight[gates:], None)]
    return [(weight[:gates], bias[:gates]), readout, (weight[gates:], bias[gates:])]


def word_tables(vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """Copies of the vectors of source words and of target words; one if they are the same."""
    if vocabulary.tied:
        words = vocabulary.words.detach().clone()
        return words, words
    return vocabulary.source_words.detach().clone(), vocabulary.target_words.detach().clone()
