"""One head of models of many kinds: its steps are those of eager attention."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.errors import DataError, ModelError, RegardError
from regard.inside.explain.observed import MOST, ObservedModel
from regard.inside.textmodel import load
from tests.inside.tinytext import STORY, save

TEXT = STORY[:60]
FAMILIES = ["Llama", "GPT2", "Mistral", "OPT", "T5", "Bart"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_steps_are_those_of_eager_attention(tmp_path: Path, family: str) -> None:
    both = family in ("T5", "Bart")
    eager = save(tmp_path, family, "ForSeq2SeqLM" if both else "Model")
    found = ObservedModel(load(str(tmp_path))).explain(TEXT, "animal", layer=1)
    ids = torch.tensor([found.reading.ids])
    with torch.no_grad():
        model = eager.get_encoder() if both else eager
        own = model(input_ids=ids, output_attentions=True).attentions[1][0]
    trace = found.trace
    assert trace.value("weights") == pytest.approx(own.double().numpy(), abs=1e-5)
    assert found.proof.difference < 1e-5
    assert found.proof.numbers == trace.value("context").size
    assert found.token in range(len(found.reading))
    q, k = trace.value("queries")[found.head], trace.value("keys")[found.head]
    assert trace.value("scores")[found.head] == pytest.approx(q @ k.T, abs=1e-9)
    products = trace.value("weighted_values")[found.head].sum(1)
    assert products == pytest.approx(trace.value("context")[found.head], abs=1e-9)
    assert trace.value("input").shape[0] == len(found.reading)
    assert not found.model.startswith("/")


def test_what_is_said_of_positions_and_shared_heads(tmp_path: Path) -> None:
    save(tmp_path, "Llama")
    trace = ObservedModel(load(str(tmp_path))).explain(TEXT, "animal").trace
    assert trace["queries"].formula == "q = R(p) W_Q x"
    assert "2 heads share each key and value." in trace["keys"].meaning
    assert trace["scaled"].formula == "e[i,j] / sqrt(8)"
    assert not trace.value("mask")[0, 0, 1]
    assert np.isfinite(trace.value("scaled")).all()  # what is masked is still there to be seen


def test_a_soft_cap_and_a_bias(tmp_path: Path) -> None:
    save(tmp_path / "gemma", "Gemma2")
    gemma = ObservedModel(load(str(tmp_path / "gemma"))).explain(TEXT, "animal").trace
    assert gemma["scaled"].formula == "0.5 tanh(0.5774 e[i,j] / 0.5)"
    save(tmp_path / "t5", "T5", "ForSeq2SeqLM")
    t5 = ObservedModel(load(str(tmp_path / "t5"))).explain(TEXT, "animal").trace
    assert t5["scaled"].formula == "1 e[i,j] + bias[i,j]"


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "gpt2", "GPT2", n_positions=2000)
    model = ObservedModel(load(str(tmp_path / "gpt2")))
    with pytest.raises(RegardError, match="has 2 layers, counted from 0"):
        model.explain(TEXT, layer=2)
    with pytest.raises(DataError, match=rf"more than {MOST:,} tokens|more than --max-tokens"):
        model.explain("street " * MOST)
    save(tmp_path / "bloom", "Bloom")
    with pytest.raises(ModelError, match="not its queries, keys and values"):
        ObservedModel(load(str(tmp_path / "bloom"))).explain(TEXT)
