"""Who said it: the parts of a score add up to it, each as large as computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from regard.inside.anatomy.anatomy import Anatomy
from regard.inside.explain.parts import score_parts
from regard.inside.explain.whole import explain_whole
from regard.pieces.whole import Prediction
from tests.inside.anatomy.cases import ROW, dissected
from tests.inside.explain import wholes
from tests.inside.explain.wholes import TEXT

WORD = 7
FAMILIES = ["GPT2", "Llama", "Gemma", "Olmo2", "Granite", "Mixtral", "GPTNeoX", "GPTJ", "Bloom"]


def split(anatomy: Anatomy) -> Any:
    scorer = anatomy.ending.scorer
    assert scorer is not None
    own = float(scorer(anatomy.ending.made)[WORD])
    return score_parts(anatomy, Prediction("w", WORD, own, 0.0), "tiny")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_sum_to_the_score(family: str) -> None:
    parts = split(dissected(family)[0])
    assert parts.difference <= 1e-4 * max(1, abs(parts.own))
    assert parts.whole == (family not in ("GPTJ", "Bloom"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("family", ["Bert", "DistilBert", "Roberta", "Albert", "Electra"])
def test_the_head_of_a_masked_model_is_walked_too(family: str) -> None:
    """Its activation's gates are held, and that is said; a module or not, the numbers tell it."""
    anatomy, model, given = dissected(family, "ForMaskedLM")
    with torch.no_grad():
        own = float(model(**given).logits[0, ROW, WORD])
    parts = score_parts(anatomy, Prediction("w", WORD, own, 0.0), "tiny")
    assert parts.difference <= 1e-4 * abs(own)
    assert parts.whole
    assert parts.curves == ("gelu (by tanh)" if family == "Albert" else "gelu",)
    assert "gates g of gelu" in parts.held


def test_a_part_of_a_masked_score_by_hand() -> None:
    """BERT: through the last layer's norm, the head's matrix, the held gates and its norm."""
    anatomy, model, _ = dissected("Bert", "ForMaskedLM")
    parts = split(anatomy)
    head = model.cls.predictions
    x = anatomy.layers[-1].made
    inner = head.transform.dense(torch.tensor(x).float()).detach().double()
    gates = 0.5 * (1 + torch.erf(inner / 2**0.5))
    norm = head.transform.LayerNorm
    gated = inner * gates
    scale = (gated.var(unbiased=False) + norm.eps) ** -0.5
    word = head.decoder.weight[WORD].detach().double() * norm.weight.detach().double() * scale
    direction = ((word - word.mean()) * gates) @ head.transform.dense.weight.detach().double()
    last = anatomy.layers[-1].sublayers[-1]
    assert last.norm_after is not None
    wrote = last.norm_after.back(direction.numpy()) @ last.adds
    assert parts.parts[-2].score == pytest.approx(wrote, rel=1e-4)


def test_each_part_by_a_computation_of_its_own() -> None:
    """Llama's last norm with its scale held, times what each head and network wrote."""
    anatomy, model, _ = dissected("Llama")
    parts = split(anatomy)
    last = anatomy.layers[-1].made
    scale = (np.mean(last**2) + model.config.rms_norm_eps) ** -0.5
    gain = model.model.norm.weight.detach().double().numpy()
    word = model.lm_head.weight[WORD].detach().double().numpy()
    for part in parts.parts:
        if part.layer is None:
            continue
        attention, feedforward = anatomy.layers[part.layer].sublayers
        if part.head is None:
            wrote = feedforward.adds
        else:
            assert attention.heads is not None
            wrote = attention.heads.each()[part.head].sum(0)
        assert part.score == pytest.approx(word @ (wrote * scale * gain), abs=1e-8)
    embedding = parts.parts[0]
    assert embedding.score == pytest.approx(word @ (anatomy.stem.made * scale * gain), abs=1e-8)


def test_a_head_is_split_over_the_words_it_looked_at() -> None:
    parts = split(dissected("GPT2")[0])
    for part in parts.parts:
        if part.head is not None:
            assert sum(part.sources) == pytest.approx(part.score)
    total = sum(part.score for part in parts.parts if part.kind == "attention")
    assert sum(parts.sources()) == pytest.approx(total)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_regards_own_language_model(norm: str) -> None:
    """With norms after the sums every one of them is held."""
    found = explain_whole(wholes.own_language(norm), "the cat sat on the", parts=True)
    assert found.layout == {"pre": "before", "post": "after"}[norm]
    assert found.parts is not None
    assert found.parts.whole
    assert found.parts.difference < 1e-5
    assert {part.kind for part in found.parts.parts} == {
        *("word", "position", "attention", "feed-forward", "biases")
    }


def test_another_word_and_a_capped_score(tmp_path: Path) -> None:
    model = wholes.causal(tmp_path, "Gemma2", final_logit_softcapping=2.0)
    found = explain_whole(model, TEXT, parts=True, said="street")
    assert found.parts is not None
    assert found.parts.word.word == " street"
    assert found.parts.difference < 1e-4 * max(1, abs(found.parts.own))
    assert found.notes[0].startswith("The model changes its scores once more")


def test_the_word_in_a_blank(tmp_path: Path) -> None:
    model = wholes.masked(tmp_path)
    found = explain_whole(model, "the [MASK] was tired", parts=True)
    assert found.kind == "word in the blank"
    assert found.proof.what == "scores"
    assert found.parts is not None
    assert found.parts.difference <= 1e-4 * abs(found.parts.own)
    assert found.trace.steps[-1].formula == "norm(gelu(W x + b))"
