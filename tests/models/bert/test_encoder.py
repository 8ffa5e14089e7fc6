"""BertEncoder against Hugging Face: hidden states and weights, tiny and real, with padding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.attention import padding
from regard.errors import RegardError, ShapeError
from regard.models.bert.config import BertConfig
from regard.models.bert.encoder import BertEncoder
from regard.models.bert.file import load_bert
from tests.models.bert.tinybert import save_tiny

TIRED = "The animal didn't cross the street because it was too tired"

IDS = torch.tensor([[2, 4, 5, 7, 8, 9, 10, 3], [2, 6, 7, 11, 3, 0, 0, 0], [2, 3, 0, 0, 0, 0, 0, 0]])

LENGTHS = torch.tensor([8, 5, 2])

SMALL = BertConfig(29, 35, 3, 5, 11, 23, 2, 1e-9, 0.0)


def compare(ours: BertEncoder, theirs: Any, texts: torch.Tensor, lengths: torch.Tensor) -> None:
    """All hidden states, at the padding too, and all weights, in float64: only rounding is left."""
    real = torch.arange(texts.shape[1]) < lengths[:, None]
    with torch.no_grad():
        expected = theirs.double()(
            texts, attention_mask=real.long(), output_hidden_states=True, output_attentions=True
        )
        got = ours.double()(texts, mask=padding(lengths), need_weights=True)
        fused = ours(texts, mask=padding(lengths))
    assert len(got.hidden) == len(expected.hidden_states)
    for a, b, c in zip(got.hidden, expected.hidden_states, fused.hidden, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-11)
        torch.testing.assert_close(c, b, rtol=0, atol=1e-11)
    assert got.weights is not None
    for a, b in zip(got.weights, expected.attentions, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=1e-12)
    assert got.last is got.hidden[-1]
    assert fused.weights is None


def test_a_tiny_bert_equals_hugging_face(tmp_path: Path) -> None:
    theirs = save_tiny(tmp_path)
    compare(load_bert(tmp_path), theirs, IDS, LENGTHS)


def test_token_types(tmp_path: Path) -> None:
    theirs, ours = save_tiny(tmp_path), load_bert(tmp_path)
    types = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1]])
    with torch.no_grad():
        expected = theirs(IDS[:1], token_type_ids=types).last_hidden_state
        torch.testing.assert_close(ours(IDS[:1], types=types).last, expected, atol=1e-5, rtol=0)
        assert not torch.allclose(ours(IDS[:1]).last, expected, atol=1e-2)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_real_minilm_equals_hugging_face(minilm: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    texts = [TIRED, "Hello, world!"]
    read = AutoTokenizer.from_pretrained(minilm)(texts, return_tensors="pt", padding=True)
    theirs = AutoModel.from_pretrained(minilm, attn_implementation="eager").eval()
    compare(load_bert(minilm), theirs, read.input_ids, read.attention_mask.sum(1))


def test_the_fused_and_the_explained_path_agree() -> None:
    torch.manual_seed(0)
    model = BertEncoder(SMALL).double().eval()
    with torch.no_grad():
        fused = model(IDS, mask=padding(LENGTHS)).last
        with regard.record() as trace:
            explained = model(IDS, mask=padding(LENGTHS)).last
    torch.testing.assert_close(fused, explained, rtol=0, atol=1e-12)
    assert [step.name for step in trace][:4] == [
        "word_vectors",
        "position_vectors",
        "type_vectors",
        "embedding",
    ]
    torch.testing.assert_close(torch.from_numpy(trace["layer 2/hidden"].value), explained)
    assert trace["layer 1/self-attention/weights"].axes == ("batch", "head", "query", "key")


def test_one_text_without_a_batch() -> None:
    torch.manual_seed(0)
    model = BertEncoder(SMALL).eval()
    with torch.no_grad():
        torch.testing.assert_close(model(IDS[0]).last, model(IDS[:1]).last[0])


def test_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    model = BertEncoder(SMALL).double().eval()
    with torch.no_grad():
        batch = model(IDS, mask=padding(LENGTHS)).last
        for row, n in enumerate(LENGTHS.tolist()):
            torch.testing.assert_close(batch[row, :n], model(IDS[row, :n]).last)


def test_it_can_be_observed(tmp_path: Path) -> None:
    save_tiny(tmp_path)
    model = load_bert(tmp_path)
    with torch.no_grad():
        plain = model(IDS, mask=padding(LENGTHS))
        weights = model(IDS, mask=padding(LENGTHS), need_weights=True).weights
        with regard.observe(model) as observation:
            seen = model(IDS, mask=padding(LENGTHS))
    assert torch.equal(plain.last, seen.last), "observing changes no output"
    assert len(observation) == 3
    assert weights is not None
    for layer in range(3):
        for batch, n in enumerate(LENGTHS.tolist()):
            found = observation.map(layer, 4, batch)
            assert found.shape == (n, n)
            expected = weights[layer][batch, 4, :n, :n]
            torch.testing.assert_close(found.dense(), expected, rtol=0, atol=1e-6)


def test_it_learns() -> None:
    """Dropout is on while training, and every parameter gets a gradient."""
    torch.manual_seed(0)
    model = BertEncoder(BertConfig(29, 35, 3, 5, 11, 23, 2, 1e-9, 0.5))
    first, second = (model(IDS, mask=padding(LENGTHS)).last for _ in range(2))
    assert not torch.equal(first, second)
    first.square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())


def ids(*shape: int) -> torch.Tensor:
    return torch.zeros(shape, dtype=torch.int64)


@pytest.mark.parametrize(
    ("tokens", "types", "error", "words"),
    [
        (ids(24), None, RegardError, "knows 23 positions, the text has 24 tokens; cut it"),
        (torch.zeros(3), None, ShapeError, r"must be int64, .* got torch.float32, \(3,\)"),
        (ids(1, 1, 3), None, ShapeError, r"got torch.int64, \(1, 1, 3\)"),
        (ids(3), ids(2), ShapeError, r"ids \(3,\), types \(2,\)"),
    ],
)
def test_wrong_inputs(
    tokens: torch.Tensor, types: torch.Tensor | None, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        BertEncoder(SMALL)(tokens, types=types)
