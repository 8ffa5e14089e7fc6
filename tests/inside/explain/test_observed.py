"""One head of models of many kinds: its steps are those of eager attention."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from regard.errors import DataError, ModelError, RegardError
from regard.inside.explain import captions
from regard.inside.explain.explained import Explained
from regard.inside.explain.observed import MOST, ObservedModel
from regard.inside.ownmodel import load_own
from regard.inside.textmodel import load
from tests.inside.explain.wholes import own_classifier, own_language
from tests.inside.tinytext import STORY, save

TEXT, TARGET = STORY[:60], STORY[61:100]
FAMILIES = ["Llama", "GPT2", "Mistral", "OPT", "T5", "Bart"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_steps_are_those_of_eager_attention(tmp_path: Path, family: str) -> None:
    both = family in ("T5", "Bart")
    eager = save(tmp_path, family, "ForSeq2SeqLM" if both else "Model")
    model = ObservedModel(load(str(tmp_path)), "encoder" if both else "")
    found = model.explain(TEXT, "animal", layer=1)
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


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["T5", "Bart", "Marian"])
def test_the_decoder_and_what_it_takes_from_the_source(tmp_path: Path, family: str) -> None:
    save(tmp_path, family, "ForSeq2SeqLM")
    # read again: Marian's table of positions is computed, and no part of its file
    kind = transformers.AutoModelForSeq2SeqLM
    eager, model = kind.from_pretrained(tmp_path, attn_implementation="eager"), load(str(tmp_path))
    own: dict[str, Explained] = {}
    for part in ("decoder", "cross"):
        own[part] = ObservedModel(model, part, TARGET).explain(TEXT, "street", layer=1)
    cross, decoder = own["cross"], own["decoder"]
    assert cross.source is not None
    with torch.no_grad():
        ids = {"input_ids": cross.source.ids, "decoder_input_ids": cross.reading.ids}
        given = {name: torch.tensor([numbers]) for name, numbers in ids.items()}
        known = eager(**given, output_attentions=True)
    for found, weights in (
        (decoder, known.decoder_attentions[1][0]),
        (cross, known.cross_attentions[1][0]),
    ):
        assert found.trace.value("weights") == pytest.approx(weights.double().numpy(), abs=1e-5)
        assert found.proof.difference < 1e-5
        assert found.trace.value("input").shape[0] == len(found.reading)
    assert cross.reading.labels == decoder.reading.labels
    assert (decoder.keys, cross.keys) == (decoder.reading, cross.source)
    assert cross.trace.value("memory").shape[0] == len(cross.source)
    labels = {"query": cross.reading.labels, "key": cross.source.labels}
    assert cross.trace["weights"].labels == labels
    assert cross.trace["keys"].formula == "k = W_K m"
    assert not decoder.trace["weights"].labels
    assert not decoder.trace.value("mask")[0, 0, 1]


def test_what_the_decoder_writes_by_itself_is_read() -> None:
    model = load_own("transformer")
    found = ObservedModel(model, "cross").explain("Der Hund schläft.", "dog", "Hund")
    assert found.reading.labels[:3] == ["<s>", "▁The", "▁dog"]
    assert found.to.text == "Hund"
    assert captions.format_place(found).startswith("transformer, cross-attention, layer ")
    assert captions.format_question(found).endswith("'▁dog' take from each token of the source?")
    assert "The decoder has read '▁dog'" in captions.format_decoding(found)
    assert "largest weight from '▁dog' to '▁Hund': 0." in captions.format_choice(found)
    other = ObservedModel(model, "cross").explain(
        "Der Mann schläft.", "man", layer=found.layer, head=found.head
    )
    assert captions.format_change(found, other).endswith("; the second has no such token there.")
    with pytest.raises(RegardError, match="part must be one of encoder, decoder, cross for a mod"):
        ObservedModel(model)


def test_what_regard_trains_is_observed_like_any_other() -> None:
    for model in (own_language("pre"), own_classifier()):
        found = ObservedModel(model).explain("the cat sat on the mat", "mat")
        assert found.shape == (2, 2)
        assert found.proof.difference < 1e-5


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
    t5 = ObservedModel(load(str(tmp_path / "t5")), "encoder").explain(TEXT, "animal").trace
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
